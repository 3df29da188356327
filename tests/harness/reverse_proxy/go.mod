module reverse_proxy

go 1.24
