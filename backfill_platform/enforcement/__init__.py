"""The reference domain: service levels of regulatory enforcement cases."""
