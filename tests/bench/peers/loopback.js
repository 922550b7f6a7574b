// A server's first file: it listens on the loopback alone, at a free port, whatever its framework asks for; the port is
// sent to the process that started it. Asked for anything by a message, it answers with the CPU seconds it has used.
'use strict';

const net = require('net');
const { cpuSeconds } = require('./rounds');

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function listenOnLoopback(...args) {
  const ready = args.find((each) => typeof each === 'function');
  this.once('listening', () => process.send({ port: this.address().port }));
  return listen.call(this, { port: 0, host: '127.0.0.1' }, ready);
};

process.on('message', () => process.send({ cpu: cpuSeconds() }));
process.on('disconnect', () => process.exit());
