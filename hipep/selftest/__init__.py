"""Every operator on a device beside the host: what ``hipep selftest`` runs."""
