// SPDX-License-Identifier: Apache-2.0
// Made by tools/tune --built-in: soft0, 2 cores of AMD EPYC; reduce, scan of 2 ranks from 32 KiB on: a Xeon;
// last_arriver_reads: the time of direct, times the ratio of the two algorithms on that Xeon.
#include "built_in.hpp"

namespace chorale::model {

std::string_view soft_rows() noexcept {
  return R"(
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
allgather rc 4 1 8192 direct 5.653 last_arriver 5.752 recursive_doubling 8.007 ring 8.283 bruck 8.935
allgather rc 4 1 32768 last_arriver 14.65 direct 22.86 recursive_doubling 31.74 bruck 32.31 ring 35.97
allgather rc 4 1 131072 last_arriver 44.8 bruck 87.25 direct 87.56 recursive_doubling 90.04 ring 92.69
allgather rc 4 1 1048576 last_arriver 403.8 recursive_doubling 639.5 bruck 657.1 direct 659.3 ring 709.8
allgather rc 8 1 8 last_arriver 10.41 direct 19.51 recursive_doubling 25.29 bruck 28.56 ring 47.66
allgather rc 8 1 256 last_arriver 10.73 direct 21.05 recursive_doubling 24.74 bruck 26.71 ring 41.38
allgather rc 8 1 2048 last_arriver 14.23 direct 30.77 recursive_doubling 35.43 bruck 35.93 ring 46.9
allgather rc 8 1 8192 last_arriver 14.94 direct 24.52 recursive_doubling 30.57 ring 38.79 bruck 48.81
allgather rc 8 1 32768 last_arriver 36.91 direct 102.6 recursive_doubling 129.3 bruck 132.3 ring 172.2
allgather rc 8 1 131072 last_arriver 127 recursive_doubling 368.2 bruck 392.6 direct 409.3 ring 419
allgather rc 8 1 1048576 last_arriver 2420 direct 4563 bruck 4875 recursive_doubling 4991 ring 5206
allgather rc 16 1 8 last_arriver 27.7 recursive_doubling 83.93 direct 90.78 bruck 92.22 ring 248.3
allgather rc 16 1 256 last_arriver 24.95 recursive_doubling 78.5 bruck 89 direct 94.37 ring 233.8
allgather rc 16 1 2048 last_arriver 50.62 direct 174.5 bruck 176.3 recursive_doubling 180.2 ring 313.4
allgather rc 16 1 8192 last_arriver 42.71 ring 264.1 recursive_doubling 306.1 bruck 528.9 direct 722.9
allgather rc 16 1 32768 last_arriver 146.9 recursive_doubling 683.6 bruck 710.3 direct 880 ring 1017
allgather rc 16 1 131072 last_arriver 744.7 bruck 2047 recursive_doubling 2067 ring 2644 direct 2671
allgather rc 16 1 1048576 last_arriver 9783 direct 1.676e+04 ring 1.696e+04 bruck 1.97e+04 recursive_doubling 1.988e+04
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
allreduce rc 4 1 8192 last_arriver 5.803 degree_k<15,flat> 6.399 recursive_doubling 6.425 reproducible 6.697 degree_k<3> 7.385 degree_k<7> 7.402 degree_k<1> 9.412 rabenseifner 10.22 ring 10.79 reduce_multicast<7> 11.67 rank_by_rank 11.71
allreduce rc 4 1 32768 degree_k<1> 14.29 last_arriver 15.25 degree_k<3> 15.54 degree_k<7> 15.59 degree_k<15,flat> 16.45 reproducible 18.61 ring 19.48 rabenseifner 20.45 recursive_doubling 26.6 reduce_multicast<7> 27.23 rank_by_rank 33.21
allreduce rc 4 1 131072 last_arriver 39.68 degree_k<1> 54.52 degree_k<3> 55.36 degree_k<7> 58.72 degree_k<15,flat> 65.93 reproducible 75.75 rabenseifner 76.94 ring 83.67 reduce_multicast<7> 95.6 recursive_doubling 105.6 rank_by_rank 228.2
allreduce rc 4 1 1048576 last_arriver 247.9 rabenseifner 421.1 ring 433.2 reproducible 476 degree_k<15,flat> 545.3 degree_k<7> 578.2 degree_k<1> 589.9 degree_k<3> 604 reduce_multicast<7> 710.1 recursive_doubling 912.9 rank_by_rank 3149
allreduce rc 8 1 8 last_arriver 11.36 degree_k<15,flat> 16.64 reproducible 21.57 recursive_doubling 25.07 degree_k<7> 27.99 reduce_multicast<7> 29.57 degree_k<3> 34.49 degree_k<1> 37.4 rabenseifner 45.65 rank_by_rank 63.31 ring 64.17
allreduce rc 8 1 256 last_arriver 10.53 degree_k<15,flat> 16.48 degree_k<7> 24.69 reproducible 25.37 recursive_doubling 25.51 reduce_multicast<7> 26.64 degree_k<3> 31.84 degree_k<1> 36.05 rabenseifner 49.46 rank_by_rank 69.45 ring 98.16
allreduce rc 8 1 2048 last_arriver 9.976 degree_k<15,flat> 18.39 degree_k<7> 25.85 reduce_multicast<7> 27.53 recursive_doubling 28.7 degree_k<3> 32.81 degree_k<1> 36.17 reproducible 37.86 rabenseifner 51.92 rank_by_rank 78.2 ring 97.3
allreduce rc 8 1 8192 last_arriver 12.47 degree_k<15,flat> 18.65 degree_k<7> 21.99 degree_k<3> 23.94 recursive_doubling 24.57 degree_k<1> 28.47 reproducible 34.03 reduce_multicast<7> 34.18 rabenseifner 35.83 ring 58.59 rank_by_rank 85.87
allreduce rc 8 1 32768 last_arriver 33.35 degree_k<7> 46.72 degree_k<1> 48.14 degree_k<3> 48.56 degree_k<15,flat> 50.43 rabenseifner 72.84 reproducible 76.23 reduce_multicast<7> 78.82 ring 82.72 recursive_doubling 107.3 rank_by_rank 150.8
allreduce rc 8 1 131072 last_arriver 73.9 degree_k<3> 120 degree_k<1> 123.7 degree_k<7> 126.2 degree_k<15,flat> 130.5 ring 195.1 reproducible 195.7 rabenseifner 226 reduce_multicast<7> 275.1 recursive_doubling 338.9 rank_by_rank 819.3
allreduce rc 8 1 1048576 last_arriver 553.3 degree_k<3> 987.8 degree_k<7> 1016 degree_k<15,flat> 1057 rabenseifner 1069 degree_k<1> 1076 ring 1172 reduce_multicast<7> 1657 reproducible 1899 recursive_doubling 2903 rank_by_rank 9376
allreduce rc 16 1 8 last_arriver 25.62 degree_k<15,flat> 48.34 degree_k<7> 79.88 degree_k<3> 83.68 recursive_doubling 85.26 reduce_multicast<7> 91.56 degree_k<1> 102 reproducible 137.8 rabenseifner 141.4 ring 295.6 rank_by_rank 310.9
allreduce rc 16 1 256 last_arriver 29.52 degree_k<15,flat> 56.52 degree_k<7> 88.68 degree_k<3> 88.71 reduce_multicast<7> 94.35 recursive_doubling 101.4 degree_k<1> 109.9 rabenseifner 198.6 reproducible 217.7 rank_by_rank 413.6 ring 539.1
allreduce rc 16 1 2048 last_arriver 36.68 degree_k<15,flat> 64.59 reduce_multicast<7> 101.4 degree_k<7> 111.1 degree_k<3> 111.8 recursive_doubling 121 degree_k<1> 123.4 rabenseifner 219.4 reproducible 273 rank_by_rank 505.2 ring 620.4
allreduce rc 16 1 8192 last_arriver 28.59 degree_k<7> 85.05 degree_k<15,flat> 89.28 degree_k<3> 106.5 rabenseifner 187.8 degree_k<1> 276.1 reduce_multicast<7> 293.3 ring 402.1 recursive_doubling 471.4 rank_by_rank 513 reproducible 735.6
allreduce rc 16 1 32768 last_arriver 88.35 degree_k<15,flat> 109.2 degree_k<7> 131 degree_k<3> 135.4 degree_k<1> 150.1 rabenseifner 230 reduce_multicast<7> 258.1 reproducible 376.1 recursive_doubling 406.5 ring 424.2 rank_by_rank 739.1
allreduce rc 16 1 131072 last_arriver 192.1 degree_k<15,flat> 376.4 degree_k<1> 387.6 degree_k<7> 417.2 degree_k<3> 417.2 reproducible 581.9 ring 595.7 rabenseifner 650.9 reduce_multicast<7> 770.3 recursive_doubling 1321 rank_by_rank 3130
allreduce rc 16 1 1048576 last_arriver 1929 degree_k<3> 2785 degree_k<7> 2880 degree_k<1> 3020 degree_k<15,flat> 3100 rabenseifner 3356 ring 4519 reproducible 5806 reduce_multicast<7> 5885 recursive_doubling 1.078e+04 rank_by_rank 3.798e+04
alltoall rc 2 0 8 direct 0.5442 last_arriver_reads 0.5447 pairwise 0.5898 bruck 0.6977
alltoall rc 2 0 256 direct 0.7746 last_arriver_reads 0.7754 pairwise 0.8212 bruck 0.9593
alltoall rc 2 0 2048 direct 1.646 last_arriver_reads 1.648 pairwise 1.737 bruck 2.384
alltoall rc 2 0 8192 pairwise 4.317 direct 4.336 last_arriver_reads 4.34 bruck 10.5
alltoall rc 2 0 32768 last_arriver_reads 16.53 direct 16.56 pairwise 16.67 bruck 20.97
alltoall rc 2 0 131072 last_arriver_reads 29.18 pairwise 30.76 direct 31.06 bruck 82.97
alltoall rc 2 0 1048576 direct 226.9 pairwise 230.7 last_arriver_reads 240.3 bruck 572.7
alltoall rc 4 1 8 direct 5.928 last_arriver_reads 5.934 bruck 8.691 pairwise 12.64
alltoall rc 4 1 256 direct 5.941 last_arriver_reads 5.947 bruck 8.489 pairwise 11.83
alltoall rc 4 1 2048 direct 6.683 last_arriver_reads 6.69 bruck 11.73 pairwise 12.55
alltoall rc 4 1 8192 direct 6.307 last_arriver_reads 6.313 last_arriver 7.867 pairwise 9.935 bruck 16.1
alltoall rc 4 1 32768 last_arriver 19.46 direct 25.86 last_arriver_reads 26.42 pairwise 38.13 bruck 63.67
alltoall rc 4 1 131072 last_arriver 60.22 last_arriver_reads 93.34 pairwise 100.4 direct 100.5 bruck 326.9
alltoall rc 4 1 1048576 pairwise 679.4 direct 696.8 last_arriver_reads 782.3 last_arriver 1106 bruck 2999
alltoall rc 8 1 8 direct 20.29 last_arriver_reads 20.31 bruck 27.87 pairwise 62.34
alltoall rc 8 1 256 direct 22.85 last_arriver_reads 22.87 bruck 32.33 pairwise 69.07
alltoall rc 8 1 2048 direct 44.31 last_arriver_reads 44.35 bruck 64.94 pairwise 87.64
alltoall rc 8 1 8192 last_arriver 28.27 direct 30.85 last_arriver_reads 30.88 pairwise 66.82 bruck 107.8
alltoall rc 8 1 32768 last_arriver 109 direct 177.1 last_arriver_reads 179 pairwise 270.5 bruck 413.9
alltoall rc 8 1 131072 last_arriver 298.9 direct 498 last_arriver_reads 526.4 pairwise 551.7 bruck 1732
alltoall rc 8 1 1048576 direct 4816 pairwise 5174 last_arriver_reads 6003 last_arriver 7505 bruck 2.094e+04
alltoall rc 16 1 8 bruck 108.7 direct 109.3 last_arriver_reads 109.4 pairwise 419.3
alltoall rc 16 1 256 bruck 126.2 direct 132.2 last_arriver_reads 132.3 pairwise 391.1
alltoall rc 16 1 2048 direct 149.4 last_arriver_reads 149.5 bruck 290.3 pairwise 412.3
alltoall rc 16 1 8192 last_arriver 178.8 direct 800.7 last_arriver_reads 801.5 bruck 844.4 pairwise 2007
alltoall rc 16 1 32768 last_arriver 494 last_arriver_reads 1042 direct 1162 pairwise 1683 bruck 2903
alltoall rc 16 1 131072 direct 3320 pairwise 3402 last_arriver_reads 4232 last_arriver 4268 bruck 1.284e+04
alltoall rc 16 1 1048576 pairwise 2.248e+04 direct 2.275e+04 last_arriver 2.718e+04 last_arriver_reads 3.08e+04 bruck 1.202e+05
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
broadcast rc 4 1 8192 flat 4.937 fetch 5.237 last_arriver 6.579 binomial 6.751 binomial_store_and_forward 6.778 multicast 9.048 chain 9.465 scatter_allgather 12.84
broadcast rc 4 1 32768 last_arriver 10.11 binomial 10.12 binomial_store_and_forward 10.29 flat 10.63 fetch 10.98 chain 13.01 scatter_allgather 15.31 multicast 15.97
broadcast rc 4 1 131072 last_arriver 22.24 fetch 26.87 binomial 29.71 binomial_store_and_forward 30.11 chain 31.21 flat 43.49 scatter_allgather 46.03 multicast 52.48
broadcast rc 4 1 1048576 last_arriver 112.3 fetch 147.3 chain 164.9 scatter_allgather 200.7 flat 207.6 binomial_store_and_forward 210.6 binomial 238.3 multicast 368.7
broadcast rc 8 1 8 flat 18.52 fetch 18.85 multicast 29.13 binomial 29.13 binomial_store_and_forward 29.32 chain 56.96 scatter_allgather 66.06
broadcast rc 8 1 256 flat 18.78 fetch 18.87 multicast 29.45 binomial_store_and_forward 30.32 binomial 30.41 chain 55.95 scatter_allgather 84.08
broadcast rc 8 1 2048 flat 20.27 fetch 20.8 binomial 31.83 multicast 32.4 binomial_store_and_forward 32.55 chain 53.87 scatter_allgather 89.32
broadcast rc 8 1 8192 fetch 11.02 flat 12.36 last_arriver 13.82 binomial_store_and_forward 16.56 binomial 17.15 multicast 24.42 chain 26.22 scatter_allgather 41.41
broadcast rc 8 1 32768 last_arriver 17.99 fetch 19.66 flat 19.95 binomial 23.24 binomial_store_and_forward 24.58 chain 26.28 multicast 39.57 scatter_allgather 51.94
broadcast rc 8 1 131072 last_arriver 33.51 fetch 43.39 chain 57.56 binomial 59.55 flat 71.54 binomial_store_and_forward 73.25 scatter_allgather 107.7 multicast 142.3
broadcast rc 8 1 1048576 last_arriver 172.9 fetch 261.3 chain 328.6 binomial_store_and_forward 354.4 binomial 414.2 flat 453.3 scatter_allgather 496.5 multicast 961.7
broadcast rc 16 1 8 flat 56.69 fetch 60.15 multicast 93.07 binomial_store_and_forward 106.9 binomial 108 chain 246.6 scatter_allgather 286.4
broadcast rc 16 1 256 flat 66.79 fetch 68.67 multicast 106.8 binomial_store_and_forward 125.3 binomial 125.5 chain 270.6 scatter_allgather 322.8
broadcast rc 16 1 2048 flat 71.15 fetch 73.34 multicast 102.2 binomial 121.5 binomial_store_and_forward 123.8 chain 190.5 scatter_allgather 515.6
broadcast rc 16 1 8192 flat 29.51 fetch 30.63 last_arriver 35.28 binomial 42.65 binomial_store_and_forward 44.17 chain 141.7 multicast 232.7 scatter_allgather 252.8
broadcast rc 16 1 32768 last_arriver 40.06 flat 50.11 fetch 51.55 binomial 55.16 binomial_store_and_forward 55.94 chain 117.8 multicast 148.4 scatter_allgather 248.6
broadcast rc 16 1 131072 last_arriver 62.53 fetch 106.8 binomial 136.7 flat 160.7 chain 164.3 binomial_store_and_forward 213.5 scatter_allgather 325.4 multicast 460.7
broadcast rc 16 1 1048576 last_arriver 354.3 fetch 539.7 binomial_store_and_forward 871.2 chain 953.6 binomial 1013 flat 1287 scatter_allgather 1677 multicast 2910
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
reduce rc 2 0 32768 degree_k<3> 4.15 degree_k<1> 4.17 reproducible 4.21 degree_k<15> 4.23 degree_k<7> 4.3 scatter_gather 5.63
reduce rc 2 0 65536 scatter_gather 4.88 reproducible 7.99 degree_k<15> 9.52 degree_k<3> 9.54 degree_k<7> 9.56 degree_k<1> 9.72
reduce rc 2 0 131072 scatter_gather 7.15 degree_k<1> 15.29 degree_k<7> 15.39 degree_k<3> 15.43 reproducible 15.43 degree_k<15> 15.5
reduce rc 2 0 1048576 scatter_gather 56.35 degree_k<7> 100.03 degree_k<15> 100.19 degree_k<1> 101.0 degree_k<3> 101.13 reproducible 114.22
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
reduce_scatter rc 4 1 8192 direct 7.076 last_arriver 8.566 recursive_halving 10.56
reduce_scatter rc 4 1 32768 last_arriver 21.24 direct 26.27 recursive_halving 42.51
reduce_scatter rc 4 1 131072 last_arriver 48.06 direct 112.3 recursive_halving 139.8
reduce_scatter rc 4 1 1048576 last_arriver 553.9 direct 1099 recursive_halving 1792
reduce_scatter rc 8 1 8 last_arriver 12.06 direct 22.18 recursive_halving 25.93
reduce_scatter rc 8 1 256 last_arriver 15.53 direct 26.17 recursive_halving 27.53
reduce_scatter rc 8 1 2048 direct 44.26 last_arriver 45.66 recursive_halving 46.23
reduce_scatter rc 8 1 8192 last_arriver 27.84 direct 31.86 recursive_halving 57.22
reduce_scatter rc 8 1 32768 last_arriver 75.15 direct 153.3 recursive_halving 205.5
reduce_scatter rc 8 1 131072 last_arriver 242.5 direct 677.6 recursive_halving 681.9
reduce_scatter rc 8 1 1048576 last_arriver 3445 direct 8390 recursive_halving 1.059e+04
reduce_scatter rc 16 1 8 last_arriver 39.4 recursive_halving 91.25 direct 106.4
reduce_scatter rc 16 1 256 last_arriver 47.13 recursive_halving 119 direct 134.2
reduce_scatter rc 16 1 2048 last_arriver 178.2 direct 179.6 recursive_halving 192.4
reduce_scatter rc 16 1 8192 last_arriver 564.4 recursive_halving 572.8 direct 855.4
reduce_scatter rc 16 1 32768 last_arriver 474.1 recursive_halving 1079 direct 1229
reduce_scatter rc 16 1 131072 last_arriver 1905 direct 4776 recursive_halving 5259
reduce_scatter rc 16 1 1048576 last_arriver 1.629e+04 direct 3.319e+04 recursive_halving 4.301e+04
scan rc 2 0 8 chain 0.1662 recursive_doubling 0.2955
scan rc 2 0 256 chain 0.1984 recursive_doubling 0.3252
scan rc 2 0 2048 chain 0.3159 recursive_doubling 0.5675
scan rc 2 0 8192 chain 0.8672 recursive_doubling 2.281
scan rc 2 0 32768 by_shares 3.42 chain 3.43 recursive_doubling 4.66
scan rc 2 0 65536 by_shares 4.67 chain 6.63 recursive_doubling 20.52
scan rc 2 0 131072 by_shares 7.01 chain 13.65 recursive_doubling 71.8
scan rc 2 0 1048576 by_shares 44.82 chain 100.24 recursive_doubling 849.54
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
}

}  // namespace chorale::model
