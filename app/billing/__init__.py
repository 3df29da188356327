"""What a Chargebee event means: the charges of a pending invoice, and its end. Used by the worker and by v01."""
