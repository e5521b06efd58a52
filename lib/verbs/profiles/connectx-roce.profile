# ConnectX-5 on Ethernet, with the four rows that the kernel makes of an interface with an IPv4 address.
connectx-infiniband
link=ethernet       # as the name says
gids=v1/fe80::e42:a1ff:fe00:1,v2/fe80::e42:a1ff:fe00:1,v1/192.168.1.1,v2/192.168.1.1 # UCX PR 10939: link-local rows come first
mtu=1024            # estimate: the largest that fits into frames of 1,500 bytes
