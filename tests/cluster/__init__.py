"""`make k8s-test`: the manifests proved on the cluster that KUBECONFIG names, a section a file.

    cluster (kubectl) ← variant (what is deployed) · attack (load from inside) ← test_*.py → record (README's table)

It deploys overlays/kind, again and again, and deletes it at the end.
"""
