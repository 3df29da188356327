"""`make k8s-test`: tests the manifests on the cluster of KUBECONFIG, one file per section.

    cluster (kubectl) ← variant (what is deployed) · attack (load from inside) · whole (Chargebee's side) ← test_*.py
    test_*.py → record (record.json) → summary (README's table)

It deploys overlays/kind in several variants, and deletes it at the end.
"""
