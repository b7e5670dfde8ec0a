"""Intent, catalog and facts become a manifest, or a refusal with every reason. Pure."""
