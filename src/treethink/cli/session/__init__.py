"""What commands show around their result: help pages, live learning, the final report; Ctrl-C."""
