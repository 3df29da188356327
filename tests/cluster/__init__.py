"""`make k8s-test`: the manifests proved on the cluster that KUBECONFIG names, a section a file.

    cluster (kubectl) ← variant (what is deployed) · attack (load from inside) ← test_*.py
    test_*.py → record (record.json) → summary (README's table)

It deploys overlays/kind in many variants, and deletes it at the end.
"""
