// Made by tools/tune --built-in: soft0, 2 cores of AMD EPYC. Do not edit.
#include "built_in.hpp"

#include <sstream>
#include <string>

namespace chorale::model {
namespace {

// operation transport ranks crowded bytes {algorithm microseconds}...; no algorithm's name has a space.
constexpr const char* built_in_rows = R"(
allgather rc 2 0 8 recursive_doubling 0.4987 direct 0.5136 ring 0.5292 bruck 0.6863
allgather rc 2 0 256 recursive_doubling 0.7555 direct 0.7816 ring 0.7991 bruck 0.9987
allgather rc 2 0 2048 recursive_doubling 1.709 ring 1.752 direct 1.761 bruck 2.004
allgather rc 2 0 8192 ring 4.207 direct 4.216 recursive_doubling 4.353 bruck 4.507
allgather rc 2 0 32768 recursive_doubling 16.05 direct 16.33 ring 16.39 bruck 16.71
allgather rc 2 0 131072 direct 26.11 recursive_doubling 26.66 ring 26.7 bruck 27.09
allgather rc 2 0 1048576 bruck 158.9 direct 159.4 recursive_doubling 159.5 ring 165.4
allgather rc 4 1 8 last_arriver 5.26 direct 6.222 recursive_doubling 7.094 bruck 7.689 ring 8.45
allgather rc 4 1 256 last_arriver 5.989 direct 7.362 recursive_doubling 8.191 bruck 8.597 ring 9.881
allgather rc 4 1 2048 last_arriver 8.416 direct 10.34 recursive_doubling 10.42 bruck 11.36 ring 13.76
allgather rc 4 1 8192 last_arriver 14.69 direct 19.61 bruck 20.98 recursive_doubling 21.55 ring 25.55
allgather rc 4 1 32768 last_arriver 60.15 bruck 78.48 direct 79.1 recursive_doubling 81.48 ring 102.1
allgather rc 4 1 131072 last_arriver 209.1 direct 238.1 bruck 252.5 recursive_doubling 274.2 ring 277.6
allgather rc 4 1 1048576 ring 1573 bruck 1578 direct 1584 recursive_doubling 1626
allgather rc 8 1 8 last_arriver 10.41 direct 19.51 recursive_doubling 25.29 bruck 28.56 ring 47.66
allgather rc 8 1 256 last_arriver 10.73 direct 21.05 recursive_doubling 24.74 bruck 26.71 ring 41.38
allgather rc 8 1 2048 last_arriver 14.23 direct 30.77 recursive_doubling 35.43 bruck 35.93 ring 46.9
allgather rc 8 1 8192 last_arriver 26.62 direct 62.56 ring 65.4 bruck 88.66 recursive_doubling 89.26
allgather rc 8 1 32768 last_arriver 97.8 recursive_doubling 240.7 ring 243.3 direct 248.9 bruck 253.2
allgather rc 8 1 131072 last_arriver 413.5 recursive_doubling 629.8 bruck 651.4 direct 740.3 ring 772.2
allgather rc 8 1 1048576 ring 8511 bruck 8557 recursive_doubling 8783 direct 9182
allgather rc 16 1 8 last_arriver 27.7 recursive_doubling 83.93 direct 90.78 bruck 92.22 ring 248.3
allgather rc 16 1 256 last_arriver 24.95 recursive_doubling 78.5 bruck 89 direct 94.37 ring 233.8
allgather rc 16 1 2048 last_arriver 50.62 direct 174.5 bruck 176.3 recursive_doubling 180.2 ring 313.4
allgather rc 16 1 8192 last_arriver 135.5 direct 343.7 ring 392.2 bruck 471.5 recursive_doubling 475.3
allgather rc 16 1 32768 last_arriver 296.7 bruck 776.5 recursive_doubling 803 direct 1101 ring 1320
allgather rc 16 1 131072 last_arriver 2153 bruck 3077 recursive_doubling 3106 direct 3518 ring 3539
allgather rc 16 1 1048576 direct 2.492e+04 bruck 2.781e+04 recursive_doubling 2.795e+04 ring 2.841e+04
allreduce rc 2 0 8 recursive_doubling 0.5304 reproducible 0.6235 degree_k<1> 1.028 degree_k<15,flat> 1.038 degree_k<3> 1.041 degree_k<7> 1.042 rabenseifner 1.184 rank_by_rank 1.195 ring 1.363 reduce_multicast<7> 2.678
allreduce rc 2 0 256 recursive_doubling 0.7223 reproducible 0.7603 degree_k<3> 1.277 degree_k<1> 1.279 degree_k<7> 1.282 degree_k<15,flat> 1.284 rabenseifner 1.404 rank_by_rank 1.412 ring 1.521 reduce_multicast<7> 2.496
allreduce rc 2 0 2048 recursive_doubling 1.736 reproducible 1.941 rabenseifner 2.241 ring 2.454 degree_k<1> 3.096 degree_k<7> 3.101 degree_k<3> 3.118 degree_k<15,flat> 3.172 rank_by_rank 3.622 reduce_multicast<7> 4.87
allreduce rc 2 0 8192 recursive_doubling 3.926 reproducible 4.577 rabenseifner 5.279 ring 5.641 degree_k<7> 7.124 degree_k<3> 7.208 degree_k<1> 7.228 degree_k<15,flat> 7.24 rank_by_rank 9.07 reduce_multicast<7> 11.74
allreduce rc 2 0 32768 recursive_doubling 16.3 rabenseifner 16.55 ring 16.83 reproducible 18.45 degree_k<1> 21.01 degree_k<15,flat> 21.32 degree_k<7> 21.4 degree_k<3> 21.42 reduce_multicast<7> 32.3 rank_by_rank 42.49
allreduce rc 2 0 131072 rabenseifner 51.05 ring 60.01 degree_k<1> 68.12 recursive_doubling 68.29 degree_k<3> 72.53 reproducible 73.29 degree_k<7> 74.4 degree_k<15,flat> 75.01 reduce_multicast<7> 160.3 rank_by_rank 176.4
allreduce rc 2 0 1048576 rabenseifner 547.5 ring 554.5 recursive_doubling 591.5 reproducible 679.1 degree_k<1> 745.9 degree_k<7> 747.1 degree_k<3> 750.6 degree_k<15,flat> 764.1 reduce_multicast<7> 1104 rank_by_rank 2839
allreduce rc 4 1 8 last_arriver 3.784 reproducible 5.696 degree_k<15,flat> 7.309 recursive_doubling 8.096 degree_k<7> 8.974 degree_k<3> 9.106 reduce_multicast<7> 11.62 degree_k<1> 12.34 rabenseifner 14.42 rank_by_rank 14.47 ring 14.84
allreduce rc 4 1 256 last_arriver 4.478 reproducible 6.887 degree_k<15,flat> 8.091 recursive_doubling 8.937 degree_k<3> 10.44 degree_k<7> 10.64 reduce_multicast<7> 13.17 degree_k<1> 14.23 rank_by_rank 16.61 rabenseifner 17.81 ring 22.27
allreduce rc 4 1 2048 last_arriver 6.284 degree_k<15,flat> 10.87 reproducible 11.31 recursive_doubling 12.07 degree_k<3> 12.93 degree_k<7> 13.12 reduce_multicast<7> 15.6 degree_k<1> 16.54 rabenseifner 20.05 rank_by_rank 23.62 ring 26.17
allreduce rc 4 1 8192 last_arriver 10.83 recursive_doubling 16.49 degree_k<15,flat> 17.57 degree_k<3> 18.04 degree_k<7> 18.07 reproducible 21.13 degree_k<1> 23 rabenseifner 25.12 reduce_multicast<7> 29.14 ring 29.65 rank_by_rank 33.83
allreduce rc 4 1 32768 degree_k<7> 44.83 degree_k<3> 45.43 degree_k<15,flat> 47.95 degree_k<1> 51.64 reproducible 52.31 rabenseifner 53.16 ring 55.76 last_arriver 58.03 recursive_doubling 66.27 reduce_multicast<7> 74.35 rank_by_rank 126.8
allreduce rc 4 1 131072 degree_k<7> 151 degree_k<3> 155.7 degree_k<15,flat> 165.8 degree_k<1> 186.5 reproducible 198.9 ring 216.9 rabenseifner 225 last_arriver 239.4 recursive_doubling 258.7 reduce_multicast<7> 290.7 rank_by_rank 763.5
allreduce rc 4 1 1048576 rabenseifner 1449 degree_k<15,flat> 1474 reproducible 1504 degree_k<7> 1513 degree_k<3> 1524 degree_k<1> 1584 ring 1660 reduce_multicast<7> 2050 recursive_doubling 2152 rank_by_rank 8572
allreduce rc 8 1 8 last_arriver 11.36 degree_k<15,flat> 16.64 reproducible 21.57 recursive_doubling 25.07 degree_k<7> 27.99 reduce_multicast<7> 29.57 degree_k<3> 34.49 degree_k<1> 37.4 rabenseifner 45.65 rank_by_rank 63.31 ring 64.17
allreduce rc 8 1 256 last_arriver 10.53 degree_k<15,flat> 16.48 degree_k<7> 24.69 reproducible 25.37 recursive_doubling 25.51 reduce_multicast<7> 26.64 degree_k<3> 31.84 degree_k<1> 36.05 rabenseifner 49.46 rank_by_rank 69.45 ring 98.16
allreduce rc 8 1 2048 last_arriver 9.976 degree_k<15,flat> 18.39 degree_k<7> 25.85 reduce_multicast<7> 27.53 recursive_doubling 28.7 degree_k<3> 32.81 degree_k<1> 36.17 reproducible 37.86 rabenseifner 51.92 rank_by_rank 78.2 ring 97.3
allreduce rc 8 1 8192 last_arriver 17.21 degree_k<15,flat> 26.42 degree_k<7> 27.83 degree_k<3> 36.44 recursive_doubling 39.14 degree_k<1> 41 reduce_multicast<7> 51.24 rabenseifner 61.38 reproducible 74.4 ring 112.9 rank_by_rank 132.7
allreduce rc 8 1 32768 degree_k<7> 68.28 degree_k<3> 69.58 degree_k<15,flat> 72.11 degree_k<1> 75.04 last_arriver 89.52 rabenseifner 109.5 reduce_multicast<7> 140.5 reproducible 145.5 ring 154.4 recursive_doubling 159.4 rank_by_rank 389.2
allreduce rc 8 1 131072 degree_k<3> 169.3 degree_k<15,flat> 183.5 degree_k<1> 187 last_arriver 226 degree_k<7> 227 reproducible 321.3 ring 325.4 reduce_multicast<7> 381.7 rabenseifner 385.9 recursive_doubling 596.5 rank_by_rank 1775
allreduce rc 8 1 1048576 degree_k<15,flat> 1766 degree_k<3> 1802 degree_k<7> 1836 degree_k<1> 1908 ring 2415 reproducible 2476 reduce_multicast<7> 2490 rabenseifner 2694 recursive_doubling 4859 rank_by_rank 1.645e+04
allreduce rc 16 1 8 last_arriver 25.62 degree_k<15,flat> 48.34 degree_k<7> 79.88 degree_k<3> 83.68 recursive_doubling 85.26 reduce_multicast<7> 91.56 degree_k<1> 102 reproducible 137.8 rabenseifner 141.4 ring 295.6 rank_by_rank 310.9
allreduce rc 16 1 256 last_arriver 29.52 degree_k<15,flat> 56.52 degree_k<7> 88.68 degree_k<3> 88.71 reduce_multicast<7> 94.35 recursive_doubling 101.4 degree_k<1> 109.9 rabenseifner 198.6 reproducible 217.7 rank_by_rank 413.6 ring 539.1
allreduce rc 16 1 2048 last_arriver 36.68 degree_k<15,flat> 64.59 reduce_multicast<7> 101.4 degree_k<7> 111.1 degree_k<3> 111.8 recursive_doubling 121 degree_k<1> 123.4 rabenseifner 219.4 reproducible 273 rank_by_rank 505.2 ring 620.4
allreduce rc 16 1 8192 last_arriver 50.95 degree_k<15,flat> 93.34 degree_k<7> 124.7 degree_k<3> 135.9 degree_k<1> 171.8 reduce_multicast<7> 173.3 recursive_doubling 181.2 rabenseifner 267.6 reproducible 366.9 ring 757.3 rank_by_rank 773.9
allreduce rc 16 1 32768 degree_k<15,flat> 197.2 last_arriver 201.7 degree_k<7> 208.4 degree_k<3> 217.4 degree_k<1> 246.8 reduce_multicast<7> 335.8 rabenseifner 412.9 recursive_doubling 661.5 reproducible 700.9 ring 857.9 rank_by_rank 1496
allreduce rc 16 1 131072 degree_k<7> 412.1 degree_k<3> 458.5 degree_k<15,flat> 486.4 last_arriver 549.4 degree_k<1> 576 reproducible 748.3 ring 817.2 reduce_multicast<7> 821.9 rabenseifner 953.8 recursive_doubling 2147 rank_by_rank 4984
allreduce rc 16 1 1048576 degree_k<7> 4454 degree_k<3> 4482 degree_k<1> 4556 degree_k<15,flat> 4691 reproducible 6369 ring 7229 rabenseifner 7339 reduce_multicast<7> 7512 recursive_doubling 1.644e+04 rank_by_rank 5.898e+04
alltoall rc 2 0 8 direct 0.5442 pairwise 0.5898 bruck 0.6977
alltoall rc 2 0 256 direct 0.7746 pairwise 0.8212 bruck 0.9593
alltoall rc 2 0 2048 direct 1.646 pairwise 1.737 bruck 2.384
alltoall rc 2 0 8192 pairwise 4.317 direct 4.336 bruck 10.5
alltoall rc 2 0 32768 direct 16.56 pairwise 16.67 bruck 20.97
alltoall rc 2 0 131072 pairwise 30.76 direct 31.06 bruck 82.97
alltoall rc 2 0 1048576 direct 226.9 pairwise 230.7 bruck 572.7
alltoall rc 4 1 8 direct 5.928 bruck 8.691 pairwise 12.64
alltoall rc 4 1 256 direct 5.941 bruck 8.489 pairwise 11.83
alltoall rc 4 1 2048 direct 6.683 bruck 11.73 pairwise 12.55
alltoall rc 4 1 8192 direct 19.65 pairwise 24.93 bruck 61.21
alltoall rc 4 1 32768 direct 44.16 pairwise 63.15 bruck 111.1
alltoall rc 4 1 131072 direct 160.6 pairwise 179.1 bruck 676.7
alltoall rc 4 1 1048576 direct 1614 pairwise 1626 bruck 6415
alltoall rc 8 1 8 direct 20.29 bruck 27.87 pairwise 62.34
alltoall rc 8 1 256 direct 22.85 bruck 32.33 pairwise 69.07
alltoall rc 8 1 2048 direct 44.31 bruck 64.94 pairwise 87.64
alltoall rc 8 1 8192 direct 64.79 pairwise 104.5 bruck 196.5
alltoall rc 8 1 32768 direct 347.8 pairwise 472.4 bruck 950.9
alltoall rc 8 1 131072 direct 977.6 pairwise 1144 bruck 4296
alltoall rc 8 1 1048576 pairwise 8335 direct 8430 bruck 3.381e+04
alltoall rc 16 1 8 bruck 108.7 direct 109.3 pairwise 419.3
alltoall rc 16 1 256 bruck 126.2 direct 132.2 pairwise 391.1
alltoall rc 16 1 2048 direct 149.4 bruck 290.3 pairwise 412.3
alltoall rc 16 1 8192 direct 236.3 pairwise 555.7 bruck 1048
alltoall rc 16 1 32768 direct 1518 pairwise 2194 bruck 4249
alltoall rc 16 1 131072 direct 4937 pairwise 5471 bruck 1.821e+04
alltoall rc 16 1 1048576 direct 3.143e+04 pairwise 3.278e+04 bruck 1.818e+05
barrier rc 2 0 0 pairwise_exchange 0.3339 dissemination 0.341 dissemination_k<3> 0.3416 dissemination_k<7> 0.3537 central 0.6214 gather_multicast<7> 1.731 gather_multicast<15> 1.816 gather_multicast<1> 1.831 gather_multicast<3> 1.909
barrier rc 4 1 0 last_arriver 4.012 dissemination_k<7> 4.903 dissemination_k<3> 4.929 central 6.466 dissemination 6.589 pairwise_exchange 7.014 gather_multicast<7> 9.762 gather_multicast<3> 9.801 gather_multicast<15> 9.834 gather_multicast<1> 11.3
barrier rc 8 1 0 last_arriver 8.243 central 14.57 dissemination_k<7> 16.01 dissemination_k<3> 19.26 gather_multicast<7> 21.66 gather_multicast<15> 21.95 dissemination 22.29 pairwise_exchange 22.88 gather_multicast<3> 31.15 gather_multicast<1> 37.14
barrier rc 16 1 0 last_arriver 26.9 central 39.22 gather_multicast<15> 55.48 gather_multicast<7> 66.48 dissemination_k<3> 66.73 gather_multicast<3> 70.26 dissemination_k<7> 70.63 dissemination 77.03 pairwise_exchange 81.02 gather_multicast<1> 90.26
broadcast rc 2 0 8 flat 0.321 binomial 0.364 chain 0.3788 binomial_store_and_forward 0.3919 fetch 0.4527 scatter_allgather 0.7667 multicast 1.694
broadcast rc 2 0 256 flat 0.3891 binomial 0.4357 chain 0.4402 binomial_store_and_forward 0.4651 fetch 0.4803 multicast 1.223 scatter_allgather 1.307
broadcast rc 2 0 2048 flat 1.154 binomial_store_and_forward 1.188 chain 1.193 binomial 1.2 fetch 1.24 scatter_allgather 2.017 multicast 2.534
broadcast rc 2 0 8192 flat 2.681 chain 2.706 binomial_store_and_forward 2.748 binomial 2.758 fetch 2.786 scatter_allgather 4.53 multicast 6.648
broadcast rc 2 0 32768 binomial_store_and_forward 8.014 flat 8.106 fetch 8.156 chain 8.166 binomial 8.373 scatter_allgather 11.21 multicast 17.18
broadcast rc 2 0 131072 fetch 20.57 binomial_store_and_forward 32.62 chain 33.29 flat 33.61 binomial 34.32 scatter_allgather 44.17 multicast 69.95
broadcast rc 2 0 1048576 binomial_store_and_forward 122.4 flat 125.3 binomial 142.5 chain 205.7 fetch 234.4 scatter_allgather 257.2 multicast 602.1
broadcast rc 4 1 8 flat 8.788 fetch 8.807 binomial 10.38 binomial_store_and_forward 10.79 chain 13.12 multicast 14.76 scatter_allgather 15.01
broadcast rc 4 1 256 flat 8.571 fetch 8.668 binomial 10.44 binomial_store_and_forward 10.57 multicast 13.58 chain 13.93 scatter_allgather 22.85
broadcast rc 4 1 2048 flat 9.718 fetch 9.818 binomial 11.15 binomial_store_and_forward 11.76 chain 15.15 multicast 15.2 scatter_allgather 23.64
broadcast rc 4 1 8192 fetch 12.83 flat 13.06 binomial 14.46 binomial_store_and_forward 15.53 chain 18.5 multicast 23.12 scatter_allgather 27.09
broadcast rc 4 1 32768 flat 23.3 fetch 23.68 binomial 24.19 chain 25.32 binomial_store_and_forward 28.58 scatter_allgather 30.12 multicast 43.03
broadcast rc 4 1 131072 chain 50.63 binomial 60.96 flat 63.35 binomial_store_and_forward 64.74 fetch 65.03 scatter_allgather 102.7 multicast 176.2
broadcast rc 4 1 1048576 binomial_store_and_forward 280.6 fetch 287.6 chain 325.8 binomial 343.5 flat 373.7 scatter_allgather 378.3 multicast 833.2
broadcast rc 8 1 8 flat 18.52 fetch 18.85 multicast 29.13 binomial 29.13 binomial_store_and_forward 29.32 chain 56.96 scatter_allgather 66.06
broadcast rc 8 1 256 flat 18.78 fetch 18.87 multicast 29.45 binomial_store_and_forward 30.32 binomial 30.41 chain 55.95 scatter_allgather 84.08
broadcast rc 8 1 2048 flat 20.27 fetch 20.8 binomial 31.83 multicast 32.4 binomial_store_and_forward 32.55 chain 53.87 scatter_allgather 89.32
broadcast rc 8 1 8192 flat 25.51 fetch 26.68 binomial 33.61 binomial_store_and_forward 34.14 multicast 49.85 chain 57.56 scatter_allgather 88.86
broadcast rc 8 1 32768 binomial 57.94 flat 58.93 fetch 60.86 binomial_store_and_forward 62.68 chain 88.7 multicast 117.4 scatter_allgather 130.9
broadcast rc 8 1 131072 fetch 151.2 binomial_store_and_forward 156.2 binomial 166.3 chain 167.3 flat 178 scatter_allgather 273.8 multicast 399
broadcast rc 8 1 1048576 fetch 795 chain 916.7 binomial_store_and_forward 995.4 binomial 1233 scatter_allgather 1353 flat 1529 multicast 2972
broadcast rc 16 1 8 flat 56.69 fetch 60.15 multicast 93.07 binomial_store_and_forward 106.9 binomial 108 chain 246.6 scatter_allgather 286.4
broadcast rc 16 1 256 flat 66.79 fetch 68.67 multicast 106.8 binomial_store_and_forward 125.3 binomial 125.5 chain 270.6 scatter_allgather 322.8
broadcast rc 16 1 2048 flat 71.15 fetch 73.34 multicast 102.2 binomial 121.5 binomial_store_and_forward 123.8 chain 190.5 scatter_allgather 515.6
broadcast rc 16 1 8192 flat 78.74 fetch 81.76 binomial 121.6 binomial_store_and_forward 123 multicast 135.6 chain 191.6 scatter_allgather 500.1
broadcast rc 16 1 32768 fetch 135.3 flat 137.1 binomial 161.9 binomial_store_and_forward 166.9 chain 211.4 multicast 254.7 scatter_allgather 531.5
broadcast rc 16 1 131072 binomial 212.6 binomial_store_and_forward 218.6 fetch 224 chain 264.2 flat 278.5 scatter_allgather 596.4 multicast 618
broadcast rc 16 1 1048576 fetch 1006 binomial_store_and_forward 1587 chain 1607 binomial 1737 flat 2376 scatter_allgather 3001 multicast 5434
gather rc 2 0 8 flat 0.2511 binomial 0.3099
gather rc 2 0 256 flat 0.2754 binomial 0.3394
gather rc 2 0 2048 flat 0.432 binomial 0.4865
gather rc 2 0 8192 flat 0.9808 binomial 1.039
gather rc 2 0 32768 flat 2.879 binomial 3.122
gather rc 2 0 131072 binomial 22.23 flat 22.24
gather rc 2 0 1048576 binomial 151.8 flat 152
gather rc 4 1 8 flat 11.46 binomial 11.87
gather rc 4 1 256 flat 9.305 binomial 11.2
gather rc 4 1 2048 flat 10.13 binomial 12.86
gather rc 4 1 8192 flat 13.17 binomial 17.79
gather rc 4 1 32768 flat 28.74 binomial 43.67
gather rc 4 1 131072 flat 98.48 binomial 110.3
gather rc 4 1 1048576 flat 368.7 binomial 429.4
gather rc 8 1 8 flat 18.15 binomial 35.38
gather rc 8 1 256 flat 17.83 binomial 35.34
gather rc 8 1 2048 flat 19.54 binomial 40.62
gather rc 8 1 8192 flat 26.69 binomial 48.52
gather rc 8 1 32768 flat 53.14 binomial 99.64
gather rc 8 1 131072 binomial 212.2 flat 240.9
gather rc 8 1 1048576 flat 1587 binomial 1933
gather rc 16 1 8 flat 49.7 binomial 88.94
gather rc 16 1 256 flat 62.32 binomial 103.1
gather rc 16 1 2048 flat 61.82 binomial 112.1
gather rc 16 1 8192 flat 74.91 binomial 129.8
gather rc 16 1 32768 flat 113.2 binomial 230.5
gather rc 16 1 131072 binomial 424.6 flat 432.6
gather rc 16 1 1048576 flat 2176 binomial 3446
reduce rc 2 0 8 reproducible 0.3991 degree_k<3> 0.4576 degree_k<7> 0.4599 degree_k<15> 0.4749 degree_k<1> 0.4822
reduce rc 2 0 256 reproducible 0.5791 degree_k<3> 0.6052 degree_k<7> 0.606 degree_k<1> 0.6272 degree_k<15> 0.6281
reduce rc 2 0 2048 reproducible 1.306 degree_k<1> 1.346 degree_k<3> 1.355 degree_k<7> 1.37 degree_k<15> 1.399
reduce rc 2 0 8192 reproducible 3.079 degree_k<3> 3.168 degree_k<1> 3.214 degree_k<7> 3.256 degree_k<15> 3.265
reduce rc 2 0 32768 degree_k<3> 9.098 reproducible 9.103 degree_k<1> 9.238 degree_k<15> 9.315 degree_k<7> 9.407
reduce rc 2 0 131072 degree_k<3> 34.25 reproducible 34.49 degree_k<1> 34.78 degree_k<15> 35.71 degree_k<7> 35.88
reduce rc 2 0 1048576 reproducible 266.1 degree_k<3> 267.9 degree_k<1> 276.7 degree_k<15> 279.4 degree_k<7> 282.3
reduce rc 4 1 8 reproducible 8.47 degree_k<3> 8.648 degree_k<15> 8.676 degree_k<7> 8.76 degree_k<1> 10.24
reduce rc 4 1 256 reproducible 8.837 degree_k<7> 8.97 degree_k<15> 9.006 degree_k<3> 9.013 degree_k<1> 10.45
reduce rc 4 1 2048 reproducible 10.04 degree_k<3> 10.09 degree_k<7> 10.22 degree_k<15> 10.32 degree_k<1> 12.2
reduce rc 4 1 8192 reproducible 14.75 degree_k<3> 15.03 degree_k<7> 15.15 degree_k<15> 15.44 degree_k<1> 17.33
reduce rc 4 1 32768 degree_k<7> 30.68 degree_k<3> 30.94 degree_k<15> 30.98 reproducible 31.23 degree_k<1> 34.27
reduce rc 4 1 131072 degree_k<1> 42.62 reproducible 47.24 degree_k<3> 53.56 degree_k<7> 54.69 degree_k<15> 54.81
reduce rc 4 1 1048576 degree_k<1> 330.3 reproducible 368.3 degree_k<15> 376.9 degree_k<7> 382.5 degree_k<3> 384.4
reduce rc 8 1 8 reproducible 17.84 degree_k<15> 17.86 degree_k<7> 18.18 degree_k<3> 24.27 degree_k<1> 31.73
reduce rc 8 1 256 degree_k<7> 17.79 degree_k<15> 18.01 reproducible 18.31 degree_k<3> 24.34 degree_k<1> 30.11
reduce rc 8 1 2048 reproducible 18.49 degree_k<7> 18.51 degree_k<15> 18.91 degree_k<3> 23.63 degree_k<1> 29.89
reduce rc 8 1 8192 reproducible 21.77 degree_k<7> 22.11 degree_k<15> 22.27 degree_k<3> 27.17 degree_k<1> 33.87
reduce rc 8 1 32768 reproducible 35.15 degree_k<15> 35.17 degree_k<7> 35.57 degree_k<3> 41.48 degree_k<1> 45.5
reduce rc 8 1 131072 degree_k<1> 100.2 degree_k<3> 105.9 degree_k<15> 106.2 degree_k<7> 106.3 reproducible 124.7
reduce rc 8 1 1048576 degree_k<1> 812.5 degree_k<3> 826.5 degree_k<7> 924.3 degree_k<15> 933.7 reproducible 1005
reduce rc 16 1 8 reproducible 54.07 degree_k<15> 55.62 degree_k<7> 77.4 degree_k<3> 82.19 degree_k<1> 94.13
reduce rc 16 1 256 reproducible 53.62 degree_k<15> 54.14 degree_k<3> 80.27 degree_k<7> 81.06 degree_k<1> 91.92
reduce rc 16 1 2048 reproducible 61.14 degree_k<15> 62.31 degree_k<3> 86.56 degree_k<7> 89.05 degree_k<1> 103
reduce rc 16 1 8192 degree_k<15> 73.82 reproducible 76.78 degree_k<7> 94.56 degree_k<3> 94.57 degree_k<1> 113.2
reduce rc 16 1 32768 reproducible 122.4 degree_k<15> 123.5 degree_k<7> 140 degree_k<3> 141.4 degree_k<1> 145.8
reduce rc 16 1 131072 reproducible 133.2 degree_k<15> 135 degree_k<1> 273.9 degree_k<3> 273.9 degree_k<7> 329.4
reduce rc 16 1 1048576 degree_k<3> 2714 reproducible 2733 degree_k<15> 2748 degree_k<7> 2766 degree_k<1> 2818
reduce_scatter rc 2 0 8 direct 0.3528 recursive_halving 0.409
reduce_scatter rc 2 0 256 direct 0.4398 recursive_halving 0.5062
reduce_scatter rc 2 0 2048 direct 0.6361 recursive_halving 0.8851
reduce_scatter rc 2 0 8192 direct 1.634 recursive_halving 2.309
reduce_scatter rc 2 0 32768 direct 6.017 recursive_halving 8.344
reduce_scatter rc 2 0 131072 direct 24.42 recursive_halving 33.73
reduce_scatter rc 2 0 1048576 direct 211.6 recursive_halving 293.7
reduce_scatter rc 4 1 8 last_arriver 5.217 direct 6.135 recursive_halving 7.429
reduce_scatter rc 4 1 256 last_arriver 6.438 direct 7.443 recursive_halving 8.811
reduce_scatter rc 4 1 2048 last_arriver 10.03 direct 10.84 recursive_halving 14.11
reduce_scatter rc 4 1 8192 direct 21.15 recursive_halving 31.34 last_arriver 47.05
reduce_scatter rc 4 1 32768 direct 81.02 recursive_halving 116.5 last_arriver 172.9
reduce_scatter rc 4 1 131072 direct 312.7 recursive_halving 428.1 last_arriver 695.6
reduce_scatter rc 4 1 1048576 direct 3021 recursive_halving 4442
reduce_scatter rc 8 1 8 last_arriver 12.06 direct 22.18 recursive_halving 25.93
reduce_scatter rc 8 1 256 last_arriver 15.53 direct 26.17 recursive_halving 27.53
reduce_scatter rc 8 1 2048 direct 44.26 last_arriver 45.66 recursive_halving 46.23
reduce_scatter rc 8 1 8192 direct 82.34 recursive_halving 132.9 last_arriver 172
reduce_scatter rc 8 1 32768 direct 317.6 recursive_halving 471.7 last_arriver 626
reduce_scatter rc 8 1 131072 direct 1514 recursive_halving 2447 last_arriver 3327
reduce_scatter rc 8 1 1048576 direct 1.617e+04 recursive_halving 2.408e+04
reduce_scatter rc 16 1 8 last_arriver 39.4 recursive_halving 91.25 direct 106.4
reduce_scatter rc 16 1 256 last_arriver 47.13 recursive_halving 119 direct 134.2
reduce_scatter rc 16 1 2048 last_arriver 178.2 direct 179.6 recursive_halving 192.4
reduce_scatter rc 16 1 8192 direct 233.6 recursive_halving 567 last_arriver 668.3
reduce_scatter rc 16 1 32768 direct 1517 recursive_halving 2552 last_arriver 3783
reduce_scatter rc 16 1 131072 direct 8497 recursive_halving 1.295e+04 last_arriver 1.628e+04
reduce_scatter rc 16 1 1048576 direct 5.279e+04 recursive_halving 8.225e+04
scan rc 2 0 8 chain 0.1662 recursive_doubling 0.2955
scan rc 2 0 256 chain 0.1984 recursive_doubling 0.3252
scan rc 2 0 2048 chain 0.3159 recursive_doubling 0.5675
scan rc 2 0 8192 chain 0.8672 recursive_doubling 2.281
scan rc 2 0 32768 chain 2.741 recursive_doubling 4.722
scan rc 2 0 131072 chain 11.29 recursive_doubling 36.86
scan rc 2 0 1048576 chain 102.8 recursive_doubling 283
scan rc 4 1 8 chain 1.163 recursive_doubling 2.151
scan rc 4 1 256 chain 1.389 recursive_doubling 2.686
scan rc 4 1 2048 chain 2.507 recursive_doubling 5.118
scan rc 4 1 8192 chain 5.75 recursive_doubling 10.82
scan rc 4 1 32768 chain 23.08 recursive_doubling 42.11
scan rc 4 1 131072 chain 95.13 recursive_doubling 175.3
scan rc 4 1 1048576 chain 313.9 recursive_doubling 1740
scan rc 8 1 8 chain 2.276 recursive_doubling 6.81
scan rc 8 1 256 chain 2.95 recursive_doubling 9.132
scan rc 8 1 2048 chain 4.736 recursive_doubling 13.79
scan rc 8 1 8192 chain 7.973 recursive_doubling 20.28
scan rc 8 1 32768 chain 30.25 recursive_doubling 69.8
scan rc 8 1 131072 chain 109 recursive_doubling 616.6
scan rc 8 1 1048576 chain 1246 recursive_doubling 4933
scan rc 16 1 8 chain 6.113 recursive_doubling 24.94
scan rc 16 1 256 chain 7.354 recursive_doubling 23.86
scan rc 16 1 2048 chain 10.59 recursive_doubling 31.82
scan rc 16 1 8192 chain 13.51 recursive_doubling 55.7
scan rc 16 1 32768 chain 67.66 recursive_doubling 294
scan rc 16 1 131072 chain 265.2 recursive_doubling 2049
scan rc 16 1 1048576 chain 2725 recursive_doubling 1.137e+04
scatter rc 2 0 8 flat 0.3463 fetch 0.3988 binomial 0.4465
scatter rc 2 0 256 flat 0.5007 fetch 0.5051 binomial 0.5718
scatter rc 2 0 2048 flat 1.245 fetch 1.273 binomial 1.321
scatter rc 2 0 8192 flat 3.152 fetch 3.198 binomial 3.277
scatter rc 2 0 32768 flat 9.924 fetch 9.944 binomial 10.24
scatter rc 2 0 131072 fetch 21.85 flat 23.62 binomial 25.94
scatter rc 2 0 1048576 flat 173.3 fetch 227.8 binomial 242
scatter rc 4 1 8 flat 8.057 fetch 8.101 binomial 9.133
scatter rc 4 1 256 flat 8.578 fetch 8.716 binomial 9.651
scatter rc 4 1 2048 fetch 9.872 flat 10.02 binomial 11.53
scatter rc 4 1 8192 fetch 12.51 flat 12.7 binomial 14.61
scatter rc 4 1 32768 fetch 27.26 flat 27.79 binomial 32.26
scatter rc 4 1 131072 fetch 71.27 flat 77.01 binomial 121.4
scatter rc 4 1 1048576 fetch 566.3 flat 661.1 binomial 1291
scatter rc 8 1 8 fetch 17.79 flat 18.16 binomial 29.53
scatter rc 8 1 256 fetch 18.45 flat 18.61 binomial 30.95
scatter rc 8 1 2048 fetch 21.06 flat 21.28 binomial 35.08
scatter rc 8 1 8192 flat 27.88 fetch 28.61 binomial 46.15
scatter rc 8 1 32768 fetch 57.37 flat 57.73 binomial 113.4
scatter rc 8 1 131072 fetch 133.2 flat 213.6 binomial 290.5
scatter rc 8 1 1048576 fetch 926.6 flat 1727 binomial 2921
scatter rc 16 1 8 flat 52.37 fetch 52.88 binomial 89.29
scatter rc 16 1 256 fetch 46.82 flat 49.34 binomial 78.35
scatter rc 16 1 2048 fetch 55.52 flat 56.76 binomial 91.2
scatter rc 16 1 8192 fetch 70.46 flat 70.73 binomial 124.5
scatter rc 16 1 32768 flat 128.5 fetch 129.5 binomial 309.3
scatter rc 16 1 131072 fetch 269.6 flat 361.9 binomial 828.9
scatter rc 16 1 1048576 fetch 1779 flat 3219 binomial 6922
)";

}  // namespace

std::vector<measurement> built_in_measurements() {
  std::vector<measurement> all;
  std::istringstream lines{built_in_rows};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string operation;
    measurement m;
    if (!(words >> operation >> m.transport >> m.ranks >> m.crowded >> m.bytes)) continue;
    m.what = operation_named(operation);
    while (words >> m.algorithm >> m.microseconds) {
      // "degree_k<15,flat>" is "degree_k<15, flat>" as a type is written.
      if (const auto comma = m.algorithm.find(','); comma != std::string::npos)
        m.algorithm = m.algorithm.substr(0, comma) + ", " + m.algorithm.substr(comma + 1);
      all.push_back(m);
    }
  }
  return all;
}

}  // namespace chorale::model
