"""A backup: all that a store keeps, in one file that any other store can be filled from.

The file is gzip of lines of JSON, in this order:

    {"backup":1,"made":<UTC ms>,"secrets":{"<name>":"<hex>"},"archive":"<address>"|null}
                                                                           what the file is; keys only when asked for
    {"leaf":{…}}                                                           the transparency log, first leaf first
    the lines of a stream's file in the archive (archive.py)               one stream after the other
    {"tombstone":"<stream>","says":"…"}                                    of a stream that lies in the archive
    {"key":"…","type":"hash","until":<UTC ms>|null,"value":[…]}            everything else, key by key
    {"end":{"streams":n,"archived":n,"leaves":n,"keys":n},"sha256":"<hex>"}
                                                                           that the file is whole: all lines before it

How keys and their values are told says values.py. All that is restored is held to its form when the file is read
through, before anything is written, a text to the hash that a log of the same file has of it, and a leaf to the head
that its log has, or that the tombstone says. A leaf of an earlier version of an archived log, or of one that is not in
the file, can't be held to anything here. The digest finds what was altered by accident; whoever means to can make it
anew.

It is made while the service runs. A log grows only, and each is copied to where it had got: all that was acknowledged
before the backup began is in it. What was told and logged of a decision is read before the logs, and who sits where
after them, so that nothing speaks of a decision that is not there. A notice that comes meanwhile may be told twice.

Left out, for a store finds it anew: key indices, catalogues and feeds (each stream is hinted at once, so reactors look
at all of it), cursors and leases of reactors, tickets, and who was seen where. Logs in the archive stay there.
"""

from service.backup.filling import fill
from service.backup.form import Counted, HeaderLine
from service.backup.making import Backup
from service.backup.reading import BackupUnfit, Checked, check, header_of

__all__ = ["Backup", "BackupUnfit", "Checked", "Counted", "HeaderLine", "check", "fill", "header_of"]
