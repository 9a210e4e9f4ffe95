"""Golden files: small inputs with exact expected outputs, run through the metrics library."""
