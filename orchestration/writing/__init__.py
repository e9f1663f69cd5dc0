"""Commands become stored records, or are refused. Pure but for the shells that say so."""
