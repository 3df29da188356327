"""`make k8s-test`: tests the manifests on the cluster of KUBECONFIG.

    cluster (kubectl) ← variant (deploys) · attack (load from inside) · whole (Chargebee's side) ← test_*.py
    test_*.py → record (record.json) → summary (the table of PROOF.md)

Deploys overlays/kind in several variants, and deletes the namespace at the end.
"""
