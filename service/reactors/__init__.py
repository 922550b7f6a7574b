"""What follows the feeds: it folds the streams that grew, and acts on what it finds."""
