"""Devices of hipep beside other providers: what ``hipep bench`` measures."""
