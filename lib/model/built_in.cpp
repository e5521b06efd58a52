// Made by tools/tune --built-in: soft0, 2 cores of AMD EPYC. Do not edit.
#include "built_in.hpp"

#include <sstream>
#include <string>

namespace chorale::model {
namespace {

// operation transport ranks crowded bytes {algorithm microseconds}...; no algorithm's name has a space in it here.
constexpr const char* rows = R"(
allgather rc 2 0 8 recursive_doubling 0.4548 direct 0.4663 ring 0.4796 bruck 0.5732
allgather rc 2 0 256 recursive_doubling 0.6741 direct 0.6881 ring 0.6998 bruck 0.8057
allgather rc 2 0 2048 direct 1.521 recursive_doubling 1.525 ring 1.602 bruck 1.694
allgather rc 2 0 8192 direct 3.895 ring 3.915 recursive_doubling 4.054 bruck 4.074
allgather rc 2 0 32768 direct 10.96 ring 11.18 recursive_doubling 11.31 bruck 11.38
allgather rc 2 0 131072 bruck 25.25 recursive_doubling 25.39 direct 25.48 ring 25.62
allgather rc 2 0 1048576 direct 131.5 recursive_doubling 133.5 bruck 134.8 ring 137.1
allgather rc 4 1 8 direct 5.154 recursive_doubling 6.099 bruck 7.604 ring 9.315
allgather rc 4 1 256 direct 6.779 recursive_doubling 7.162 bruck 8.788 ring 10.85
allgather rc 4 1 2048 direct 9.519 recursive_doubling 10.85 bruck 12.94 ring 13.99
allgather rc 4 1 8192 direct 18.15 ring 20.44 recursive_doubling 25.19 bruck 26.37
allgather rc 4 1 32768 recursive_doubling 77.27 direct 79.65 bruck 80.18 ring 89.5
allgather rc 4 1 131072 direct 185.6 bruck 190.5 ring 200.4 recursive_doubling 231.7
allgather rc 4 1 1048576 direct 1543 recursive_doubling 1729 bruck 1742 ring 1804
allgather rc 8 1 8 recursive_doubling 19.76 direct 20.18 bruck 21.81 ring 34.39
allgather rc 8 1 256 recursive_doubling 24.36 bruck 27.93 direct 28.93 ring 45.52
allgather rc 8 1 2048 recursive_doubling 35.07 bruck 36.5 direct 42.16 ring 62.02
allgather rc 8 1 8192 direct 72.42 bruck 100.6 ring 101.6 recursive_doubling 105.8
allgather rc 8 1 32768 recursive_doubling 270.9 bruck 274 direct 390.6 ring 464.3
allgather rc 8 1 131072 bruck 758.1 recursive_doubling 893.2 direct 988.1 ring 1296
allgather rc 8 1 1048576 direct 6826 recursive_doubling 7371 bruck 7423 ring 7623
allgather rc 16 1 8 recursive_doubling 67.45 bruck 78.29 ring 175.1 direct 646.8
allgather rc 16 1 256 recursive_doubling 97.56 bruck 115.6 direct 132.7 ring 259.8
allgather rc 16 1 2048 direct 124.6 recursive_doubling 148.9 bruck 158 ring 248.8
allgather rc 16 1 8192 direct 333 recursive_doubling 499.6 ring 515.4 bruck 553.3
allgather rc 16 1 32768 recursive_doubling 1444 bruck 1581 ring 2261 direct 2286
allgather rc 16 1 131072 bruck 4343 recursive_doubling 4498 direct 5377 ring 5545
allgather rc 16 1 1048576 direct 2.861e+04 bruck 2.918e+04 recursive_doubling 2.971e+04 ring 3.2e+04
allreduce rc 2 0 8 recursive_doubling 0.287 reproducible 0.3248 degree_k<15,flat> 0.549 degree_k<3> 0.5603 degree_k<1> 0.5612 degree_k<7> 0.5705 rabenseifner 0.7013 rank_by_rank 0.7039 ring 0.843
allreduce rc 2 0 256 recursive_doubling 0.3841 reproducible 0.4131 degree_k<3> 0.6811 degree_k<15,flat> 0.6829 degree_k<1> 0.688 degree_k<7> 0.6881 rabenseifner 0.7982 rank_by_rank 0.8237 ring 0.9343
allreduce rc 2 0 2048 recursive_doubling 1.616 reproducible 1.775 rabenseifner 2.087 ring 2.268 degree_k<3> 2.542 degree_k<1> 2.596 degree_k<15,flat> 2.603 degree_k<7> 2.624 rank_by_rank 3.081
allreduce rc 2 0 8192 recursive_doubling 4.014 reproducible 4.353 rabenseifner 5.164 ring 5.337 degree_k<3> 6.045 degree_k<15,flat> 6.192 degree_k<7> 6.219 degree_k<1> 6.354 rank_by_rank 8.137
allreduce rc 2 0 32768 recursive_doubling 15.8 rabenseifner 15.96 ring 16.03 reproducible 17.34 degree_k<7> 22.65 degree_k<3> 22.81 degree_k<15,flat> 22.96 degree_k<1> 23.83 rank_by_rank 53.74
allreduce rc 2 0 131072 recursive_doubling 62.9 ring 63.98 rabenseifner 64.16 degree_k<1> 72.08 degree_k<15,flat> 72.29 reproducible 72.66 degree_k<3> 73.3 degree_k<7> 73.36 rank_by_rank 325.1
allreduce rc 2 0 1048576 recursive_doubling 525.6 ring 527 rabenseifner 566.9 reproducible 592.2 degree_k<15,flat> 653.7 degree_k<7> 657.8 degree_k<3> 661 degree_k<1> 663.1 rank_by_rank 2836
allreduce rc 4 1 8 reproducible 6.12 recursive_doubling 6.905 degree_k<15,flat> 7.667 degree_k<3> 7.985 degree_k<7> 8.255 degree_k<1> 10.94 rabenseifner 14.95 rank_by_rank 15.77 ring 16.19
allreduce rc 4 1 256 reproducible 7.609 recursive_doubling 7.99 degree_k<15,flat> 8.724 degree_k<7> 9.566 degree_k<3> 9.737 degree_k<1> 12.76 rabenseifner 16.07 rank_by_rank 17.6 ring 23.92
allreduce rc 4 1 2048 recursive_doubling 10.22 degree_k<15,flat> 11.39 reproducible 11.92 degree_k<7> 12.08 degree_k<3> 12.13 degree_k<1> 14.82 rabenseifner 18.15 rank_by_rank 24.96 ring 27.48
allreduce rc 4 1 8192 recursive_doubling 16.38 degree_k<7> 16.77 degree_k<3> 17.04 degree_k<15,flat> 18.04 degree_k<1> 19.14 reproducible 20.84 rabenseifner 23.3 ring 33.71 rank_by_rank 41.83
allreduce rc 4 1 32768 rabenseifner 42.11 reproducible 45.43 ring 46.2 degree_k<1> 47.38 degree_k<3> 48.24 degree_k<7> 49.37 degree_k<15,flat> 59.53 recursive_doubling 62.64 rank_by_rank 219.2
allreduce rc 4 1 131072 degree_k<1> 141.3 degree_k<3> 161.7 degree_k<7> 164.2 degree_k<15,flat> 190.7 reproducible 207.7 rabenseifner 210.1 ring 222.8 recursive_doubling 254.6 rank_by_rank 1021
allreduce rc 4 1 1048576 degree_k<1> 1011 degree_k<7> 1133 rabenseifner 1178 degree_k<3> 1197 ring 1328 reproducible 1449 degree_k<15,flat> 1525 recursive_doubling 1978 rank_by_rank 7449
allreduce rc 8 1 8 degree_k<15,flat> 16.07 degree_k<7> 21.05 recursive_doubling 21.27 reproducible 23.35 degree_k<3> 27.71 degree_k<1> 32.15 rabenseifner 39.86 ring 52.24 rank_by_rank 56.88
allreduce rc 8 1 256 degree_k<15,flat> 20.27 degree_k<7> 24.01 recursive_doubling 27.3 degree_k<3> 32.01 reproducible 32.74 degree_k<1> 38.52 rabenseifner 54.52 rank_by_rank 65.24 ring 99.79
allreduce rc 8 1 2048 degree_k<15,flat> 25.51 degree_k<7> 30.45 recursive_doubling 34.51 degree_k<3> 35.07 degree_k<1> 40.96 reproducible 51.27 rabenseifner 63.03 rank_by_rank 84.76 ring 105.9
allreduce rc 8 1 8192 degree_k<15,flat> 36.24 degree_k<7> 39.44 degree_k<3> 46.08 degree_k<1> 51.46 recursive_doubling 51.5 rabenseifner 76.95 reproducible 85.72 ring 130.5 rank_by_rank 149.5
allreduce rc 8 1 32768 degree_k<7> 109.5 degree_k<3> 112.5 degree_k<15,flat> 112.9 degree_k<1> 126 rabenseifner 127.2 reproducible 157.7 ring 173 recursive_doubling 185.5 rank_by_rank 980
allreduce rc 8 1 131072 degree_k<3> 355.6 degree_k<1> 356.1 degree_k<15,flat> 384.3 degree_k<7> 384.8 reproducible 404.9 ring 443.6 rabenseifner 490.3 recursive_doubling 779.7 rank_by_rank 2365
allreduce rc 8 1 1048576 degree_k<7> 3104 degree_k<1> 3304 degree_k<3> 3435 reproducible 3494 rabenseifner 3583 degree_k<15,flat> 3694 ring 4378 recursive_doubling 6159 rank_by_rank 2.572e+04
allreduce rc 16 1 8 degree_k<15,flat> 35.8 recursive_doubling 66.51 degree_k<7> 70.22 degree_k<3> 72.34 degree_k<1> 86.72 rabenseifner 111.2 ring 278.8 rank_by_rank 427.7 reproducible 509
allreduce rc 16 1 256 degree_k<15,flat> 41.95 degree_k<7> 75.26 degree_k<3> 82.69 recursive_doubling 89.41 degree_k<1> 93.93 reproducible 105.2 rabenseifner 162.2 rank_by_rank 293.1 ring 439.1
allreduce rc 16 1 2048 degree_k<15,flat> 47.81 degree_k<7> 78.94 degree_k<3> 84.96 recursive_doubling 89.11 degree_k<1> 96.64 reproducible 154.1 rabenseifner 166.2 rank_by_rank 341.2 ring 397.8
allreduce rc 16 1 8192 degree_k<15,flat> 77.82 degree_k<7> 105.3 degree_k<3> 107.7 degree_k<1> 115.2 recursive_doubling 131.9 rabenseifner 212.5 reproducible 241.7 ring 470.8 rank_by_rank 566.7
allreduce rc 16 1 32768 degree_k<15,flat> 218.9 degree_k<3> 240.5 degree_k<7> 254.5 degree_k<1> 264.9 rabenseifner 332.5 reproducible 537.1 ring 544 recursive_doubling 549.3 rank_by_rank 3143
allreduce rc 16 1 131072 degree_k<3> 725.4 degree_k<15,flat> 762.5 degree_k<1> 767.4 degree_k<7> 780.4 reproducible 947.3 ring 978.4 rabenseifner 1088 recursive_doubling 2708 rank_by_rank 8910
allreduce rc 16 1 1048576 degree_k<1> 5127 degree_k<3> 5386 degree_k<7> 5523 degree_k<15,flat> 7321 reproducible 7417 rabenseifner 7604 ring 8181 recursive_doubling 1.786e+04 rank_by_rank 6.51e+04
alltoall rc 2 0 8 direct 0.4293 pairwise 0.4529 bruck 0.4825
alltoall rc 2 0 256 direct 0.7095 pairwise 0.7367 bruck 0.8036
alltoall rc 2 0 2048 direct 1.111 pairwise 1.145 bruck 1.499
alltoall rc 2 0 8192 direct 2.906 pairwise 2.907 bruck 3.658
alltoall rc 2 0 32768 pairwise 10.47 direct 10.51 bruck 18.48
alltoall rc 2 0 131072 pairwise 26.76 direct 27.42 bruck 81.87
alltoall rc 2 0 1048576 direct 139.7 pairwise 144.1 bruck 619.7
alltoall rc 4 1 8 direct 6.572 bruck 8.818 pairwise 12.81
alltoall rc 4 1 256 direct 7.711 bruck 10.08 pairwise 14
alltoall rc 4 1 2048 direct 9.587 bruck 15.33 pairwise 15.48
alltoall rc 4 1 8192 direct 18.69 pairwise 24.36 bruck 58.53
alltoall rc 4 1 32768 direct 77.47 pairwise 89.29 bruck 174.3
alltoall rc 4 1 131072 direct 186.5 pairwise 199.2 bruck 729.2
alltoall rc 4 1 1048576 direct 2146 pairwise 2367 bruck 7747
alltoall rc 8 1 8 direct 17.62 bruck 19.51 pairwise 43.19
alltoall rc 8 1 256 direct 23.86 bruck 25.31 pairwise 55.54
alltoall rc 8 1 2048 direct 34.28 bruck 45.82 pairwise 65.33
alltoall rc 8 1 8192 direct 56.55 pairwise 91.4 bruck 187.7
alltoall rc 8 1 32768 direct 310.3 pairwise 368.4 bruck 767.9
alltoall rc 8 1 131072 direct 671.6 pairwise 688.1 bruck 2801
alltoall rc 8 1 1048576 pairwise 7125 direct 7168 bruck 2.569e+04
alltoall rc 16 1 8 bruck 121.5 direct 831 pairwise 1596
alltoall rc 16 1 256 bruck 152.9 direct 153.8 pairwise 436.9
alltoall rc 16 1 2048 direct 175.2 bruck 382.6 pairwise 1347
alltoall rc 16 1 8192 direct 767.9 bruck 1605 pairwise 1668
alltoall rc 16 1 32768 direct 2506 pairwise 3609 bruck 5792
alltoall rc 16 1 131072 direct 5594 pairwise 6653 bruck 2.302e+04
alltoall rc 16 1 1048576 direct 3.354e+04 pairwise 3.461e+04 bruck 1.651e+05
barrier rc 2 0 0 dissemination 0.1554 pairwise_exchange 0.1557 dissemination_k<7> 0.1633 dissemination_k<3> 0.1645 central 0.2715
barrier rc 4 1 0 dissemination_k<7> 6.63 dissemination_k<3> 6.681 pairwise_exchange 8.175 central 8.271 dissemination 9.03
barrier rc 8 1 0 dissemination_k<7> 12.59 central 13.02 dissemination_k<3> 16.38 dissemination 19.23 pairwise_exchange 19.48
barrier rc 16 1 0 central 26.58 dissemination_k<7> 46.51 dissemination_k<3> 47.41 dissemination 56.7 pairwise_exchange 61.23
broadcast rc 2 0 8 chain 0.1404 binomial 0.1468 flat 0.1475 binomial_store_and_forward 0.1506 scatter_allgather 0.3437
broadcast rc 2 0 256 chain 0.1811 flat 0.1835 binomial 0.1867 binomial_store_and_forward 0.1962 scatter_allgather 0.6918
broadcast rc 2 0 2048 chain 0.2848 flat 0.2859 binomial 0.288 binomial_store_and_forward 0.2965 scatter_allgather 0.8667
broadcast rc 2 0 8192 binomial_store_and_forward 0.6547 flat 0.6755 chain 0.6786 binomial 0.6898 scatter_allgather 1.625
broadcast rc 2 0 32768 scatter_allgather 4.444 flat 6.742 binomial 6.774 chain 6.847 binomial_store_and_forward 7.038
broadcast rc 2 0 131072 binomial_store_and_forward 14.24 chain 14.28 flat 14.35 binomial 14.38 scatter_allgather 29.46
broadcast rc 2 0 1048576 binomial_store_and_forward 103.3 scatter_allgather 123.8 chain 126.6 flat 126.6 binomial 127.9
broadcast rc 4 1 8 flat 8.257 binomial 9.301 binomial_store_and_forward 9.395 chain 13.73 scatter_allgather 16.29
broadcast rc 4 1 256 flat 8.836 binomial 9.863 binomial_store_and_forward 9.904 chain 14.45 scatter_allgather 23.37
broadcast rc 4 1 2048 binomial_store_and_forward 8.978 binomial 9.011 flat 9.712 chain 14.07 scatter_allgather 21.95
broadcast rc 4 1 8192 binomial 10.48 binomial_store_and_forward 10.6 flat 11.49 chain 15.19 scatter_allgather 24.07
broadcast rc 4 1 32768 scatter_allgather 26.35 binomial_store_and_forward 29.21 binomial 29.46 flat 31.02 chain 37.17
broadcast rc 4 1 131072 binomial 72.67 binomial_store_and_forward 73.5 chain 77.33 flat 82.03 scatter_allgather 135
broadcast rc 4 1 1048576 binomial_store_and_forward 291.7 chain 312.2 binomial 344.2 scatter_allgather 389.7 flat 486.2
broadcast rc 8 1 8 flat 28.53 binomial 32.49 binomial_store_and_forward 32.53 chain 46.33 scatter_allgather 52.15
broadcast rc 8 1 256 flat 29.81 binomial 33.65 binomial_store_and_forward 34.37 chain 48.68 scatter_allgather 78.97
broadcast rc 8 1 2048 flat 27.16 binomial 31.2 binomial_store_and_forward 31.9 chain 43.73 scatter_allgather 80.49
broadcast rc 8 1 8192 flat 29.4 binomial 32.7 binomial_store_and_forward 33.35 chain 45.74 scatter_allgather 83.8
broadcast rc 8 1 32768 binomial_store_and_forward 76.23 binomial 78.11 chain 85.78 flat 87.08 scatter_allgather 90.94
broadcast rc 8 1 131072 binomial_store_and_forward 145.3 flat 162.5 chain 182.8 binomial 197.4 scatter_allgather 243.8
broadcast rc 8 1 1048576 chain 908.3 binomial_store_and_forward 958 binomial 1292 scatter_allgather 1693 flat 2053
broadcast rc 16 1 8 flat 60.07 binomial_store_and_forward 78.22 binomial 78.61 chain 122.5 scatter_allgather 150.6
broadcast rc 16 1 256 flat 63.97 binomial_store_and_forward 77.16 binomial 77.5 chain 136 scatter_allgather 184.4
broadcast rc 16 1 2048 flat 67.11 binomial_store_and_forward 78.68 binomial 79.61 chain 136.6 scatter_allgather 266.6
broadcast rc 16 1 8192 flat 77.62 binomial 84.99 binomial_store_and_forward 85.87 chain 141.3 scatter_allgather 283.7
broadcast rc 16 1 32768 binomial_store_and_forward 158 binomial 164.5 flat 176.9 chain 225.6 scatter_allgather 333.7
broadcast rc 16 1 131072 binomial 278.8 binomial_store_and_forward 283.5 flat 335.8 chain 368.2 scatter_allgather 483.7
broadcast rc 16 1 1048576 binomial_store_and_forward 1352 chain 1365 binomial 1576 scatter_allgather 2620 flat 2785
gather rc 2 0 8 flat 0.3099 binomial 0.3926
gather rc 2 0 256 flat 0.4815 binomial 0.5106
gather rc 2 0 2048 flat 0.8422 binomial 0.8739
gather rc 2 0 8192 flat 2.282 binomial 2.324
gather rc 2 0 32768 binomial 7.602 flat 7.75
gather rc 2 0 131072 flat 17.62 binomial 17.87
gather rc 2 0 1048576 flat 132.2 binomial 133.9
gather rc 4 1 8 flat 8.335 binomial 9.645
gather rc 4 1 256 flat 9.272 binomial 10.94
gather rc 4 1 2048 flat 9.69 binomial 10.61
gather rc 4 1 8192 flat 10.91 binomial 12.43
gather rc 4 1 32768 binomial 40.58 flat 46.62
gather rc 4 1 131072 binomial 72.66 flat 79.63
gather rc 4 1 1048576 flat 396.4 binomial 419.2
gather rc 8 1 8 flat 22.81 binomial 26.66
gather rc 8 1 256 flat 23.98 binomial 28.61
gather rc 8 1 2048 flat 25.19 binomial 31.55
gather rc 8 1 8192 flat 30.12 binomial 46.18
gather rc 8 1 32768 binomial 74.05 flat 80.25
gather rc 8 1 131072 flat 133.3 binomial 158
gather rc 8 1 1048576 flat 785.1 binomial 1189
gather rc 16 1 8 flat 66.49 binomial 87.43
gather rc 16 1 256 flat 78.71 binomial 99.09
gather rc 16 1 2048 flat 80.54 binomial 82.93
gather rc 16 1 8192 flat 76.98 binomial 102.3
gather rc 16 1 32768 binomial 319.6 flat 650.9
gather rc 16 1 131072 flat 764 binomial 866.9
gather rc 16 1 1048576 flat 3040 binomial 4698
reduce rc 2 0 8 reproducible 0.1493 degree_k<1> 0.1687 degree_k<7> 0.1699 degree_k<15> 0.1707 degree_k<3> 0.1725
reduce rc 2 0 256 reproducible 0.1928 degree_k<7> 0.2051 degree_k<1> 0.2054 degree_k<3> 0.2071 degree_k<15> 0.2075
reduce rc 2 0 2048 reproducible 0.3078 degree_k<1> 0.3336 degree_k<7> 0.3347 degree_k<15> 0.3348 degree_k<3> 0.3359
reduce rc 2 0 8192 reproducible 0.7024 degree_k<7> 0.7411 degree_k<3> 0.7425 degree_k<15> 0.745 degree_k<1> 0.7634
reduce rc 2 0 32768 degree_k<7> 2.365 reproducible 2.402 degree_k<3> 2.427 degree_k<1> 2.434 degree_k<15> 2.472
reduce rc 2 0 131072 degree_k<7> 8.547 reproducible 8.616 degree_k<1> 8.646 degree_k<15> 8.723 degree_k<3> 8.829
reduce rc 2 0 1048576 reproducible 117.2 degree_k<1> 119.8 degree_k<15> 120.7 degree_k<7> 121.7 degree_k<3> 122.1
reduce rc 4 1 8 reproducible 6.222 degree_k<15> 6.325 degree_k<3> 6.329 degree_k<7> 6.368 degree_k<1> 7.116
reduce rc 4 1 256 degree_k<7> 6.66 degree_k<3> 6.72 degree_k<15> 6.722 reproducible 6.724 degree_k<1> 8.186
reduce rc 4 1 2048 reproducible 6.302 degree_k<3> 6.397 degree_k<15> 6.46 degree_k<7> 6.879 degree_k<1> 8.145
reduce rc 4 1 8192 degree_k<3> 9.042 reproducible 9.047 degree_k<7> 9.287 degree_k<15> 9.287 degree_k<1> 10.48
reduce rc 4 1 32768 degree_k<7> 16.84 degree_k<1> 16.87 reproducible 16.93 degree_k<3> 17.07 degree_k<15> 17.18
reduce rc 4 1 131072 degree_k<15> 42.46 degree_k<7> 43.34 degree_k<1> 48.78 degree_k<3> 49.53 reproducible 52.53
reduce rc 4 1 1048576 degree_k<15> 268.1 degree_k<7> 269.8 reproducible 278.5 degree_k<1> 281.2 degree_k<3> 282.4
reduce rc 8 1 8 degree_k<15> 26.82 reproducible 27.26 degree_k<7> 27.55 degree_k<3> 33.84 degree_k<1> 36.98
reduce rc 8 1 256 degree_k<15> 29.66 degree_k<7> 29.9 reproducible 30.15 degree_k<3> 36.83 degree_k<1> 40.48
reduce rc 8 1 2048 reproducible 27.43 degree_k<15> 27.49 degree_k<7> 27.58 degree_k<3> 33.78 degree_k<1> 35.85
reduce rc 8 1 8192 reproducible 33.97 degree_k<7> 34.04 degree_k<15> 34.2 degree_k<3> 37.48 degree_k<1> 38.88
reduce rc 8 1 32768 degree_k<15> 51.79 degree_k<7> 52.46 reproducible 53.62 degree_k<3> 55.07 degree_k<1> 62.06
reduce rc 8 1 131072 degree_k<15> 79.06 degree_k<7> 81.54 degree_k<1> 107.7 reproducible 148.4 degree_k<3> 151.4
reduce rc 8 1 1048576 reproducible 1096 degree_k<7> 1097 degree_k<3> 1137 degree_k<1> 1142 degree_k<15> 1175
reduce rc 16 1 8 degree_k<15> 59.48 reproducible 60.65 degree_k<3> 65.04 degree_k<7> 65.2 degree_k<1> 77.46
reduce rc 16 1 256 degree_k<15> 59.65 reproducible 60.65 degree_k<7> 67.08 degree_k<3> 68.39 degree_k<1> 77.47
reduce rc 16 1 2048 reproducible 65.01 degree_k<15> 66.86 degree_k<7> 69.38 degree_k<3> 76.21 degree_k<1> 83.69
reduce rc 16 1 8192 reproducible 71.7 degree_k<15> 73.25 degree_k<7> 74.55 degree_k<1> 76.59 degree_k<3> 78.32
reduce rc 16 1 32768 reproducible 82.1 degree_k<15> 82.54 degree_k<7> 84.77 degree_k<3> 87.66 degree_k<1> 97.59
reduce rc 16 1 131072 degree_k<7> 159.5 degree_k<3> 290.3 degree_k<1> 294.6 reproducible 300.5 degree_k<15> 312.3
reduce rc 16 1 1048576 degree_k<7> 1764 degree_k<3> 1808 degree_k<1> 1908 degree_k<15> 2182 reproducible 2239
reduce_scatter rc 2 0 8 direct 0.4377 recursive_halving 0.5143
reduce_scatter rc 2 0 256 direct 0.5931 recursive_halving 0.6529
reduce_scatter rc 2 0 2048 direct 1.098 recursive_halving 1.256
reduce_scatter rc 2 0 8192 direct 3.013 recursive_halving 3.49
reduce_scatter rc 2 0 32768 direct 15.98 recursive_halving 18.19
reduce_scatter rc 2 0 131072 direct 60.83 recursive_halving 67.92
reduce_scatter rc 2 0 1048576 direct 477.1 recursive_halving 530.9
reduce_scatter rc 4 1 8 direct 4.526 recursive_halving 6.803
reduce_scatter rc 4 1 256 direct 4.723 recursive_halving 6.756
reduce_scatter rc 4 1 2048 direct 5.494 recursive_halving 7.991
reduce_scatter rc 4 1 8192 direct 8.956 recursive_halving 17
reduce_scatter rc 4 1 32768 direct 40.94 recursive_halving 72.75
reduce_scatter rc 4 1 131072 direct 173.6 recursive_halving 277.4
reduce_scatter rc 4 1 1048576 direct 2094 recursive_halving 4033
reduce_scatter rc 8 1 8 direct 13.67 recursive_halving 20.34
reduce_scatter rc 8 1 256 direct 15.42 recursive_halving 22.42
reduce_scatter rc 8 1 2048 direct 18.29 recursive_halving 26.18
reduce_scatter rc 8 1 8192 direct 37.96 recursive_halving 70.34
reduce_scatter rc 8 1 32768 direct 143.5 recursive_halving 254.4
reduce_scatter rc 8 1 131072 direct 751.6 recursive_halving 1481
reduce_scatter rc 8 1 1048576 direct 6686 recursive_halving 1.325e+04
reduce_scatter rc 16 1 8 recursive_halving 99.99 direct 101
reduce_scatter rc 16 1 256 recursive_halving 111.2 direct 119.1
reduce_scatter rc 16 1 2048 direct 148.3 recursive_halving 192.9
reduce_scatter rc 16 1 8192 recursive_halving 645 direct 688.7
reduce_scatter rc 16 1 32768 direct 1598 recursive_halving 2927
reduce_scatter rc 16 1 131072 direct 6430 recursive_halving 1.187e+04
reduce_scatter rc 16 1 1048576 direct 4.9e+04 recursive_halving 8.458e+04
scan rc 2 0 8 recursive_doubling 0.2797
scan rc 2 0 256 recursive_doubling 0.3459
scan rc 2 0 2048 recursive_doubling 0.8516
scan rc 2 0 8192 recursive_doubling 1.861
scan rc 2 0 32768 recursive_doubling 15.09
scan rc 2 0 131072 recursive_doubling 47.79
scan rc 2 0 1048576 recursive_doubling 308.6
scan rc 4 1 8 recursive_doubling 1.591
scan rc 4 1 256 recursive_doubling 1.752
scan rc 4 1 2048 recursive_doubling 3.865
scan rc 4 1 8192 recursive_doubling 8.823
scan rc 4 1 32768 recursive_doubling 55.77
scan rc 4 1 131072 recursive_doubling 147
scan rc 4 1 1048576 recursive_doubling 1044
scan rc 8 1 8 recursive_doubling 2.828
scan rc 8 1 256 recursive_doubling 3.551
scan rc 8 1 2048 recursive_doubling 5.998
scan rc 8 1 8192 recursive_doubling 9.737
scan rc 8 1 32768 recursive_doubling 114.8
scan rc 8 1 131072 recursive_doubling 305.1
scan rc 8 1 1048576 recursive_doubling 2740
scan rc 16 1 8 recursive_doubling 18.41
scan rc 16 1 256 recursive_doubling 27.02
scan rc 16 1 2048 recursive_doubling 45.4
scan rc 16 1 8192 recursive_doubling 101.5
scan rc 16 1 32768 recursive_doubling 644.7
scan rc 16 1 131072 recursive_doubling 1624
scan rc 16 1 1048576 recursive_doubling 1.363e+04
scatter rc 2 0 8 flat 0.3429 binomial 0.4333
scatter rc 2 0 256 flat 0.5542 binomial 0.6066
scatter rc 2 0 2048 flat 0.8797 binomial 0.9237
scatter rc 2 0 8192 flat 2.577 binomial 2.831
scatter rc 2 0 32768 flat 6.812 binomial 7.351
scatter rc 2 0 131072 flat 18.5 binomial 18.72
scatter rc 2 0 1048576 flat 131 binomial 137
scatter rc 4 1 8 flat 7.678 binomial 8.136
scatter rc 4 1 256 flat 8.32 binomial 9.285
scatter rc 4 1 2048 flat 10.23 binomial 11.95
scatter rc 4 1 8192 flat 14.5 binomial 17.03
scatter rc 4 1 32768 flat 37.11 binomial 42.2
scatter rc 4 1 131072 flat 56.98 binomial 74.53
scatter rc 4 1 1048576 flat 519.4 binomial 627.8
scatter rc 8 1 8 flat 24.94 binomial 29.83
scatter rc 8 1 256 flat 18.7 binomial 23.15
scatter rc 8 1 2048 flat 20.64 binomial 27.9
scatter rc 8 1 8192 flat 22.98 binomial 42.47
scatter rc 8 1 32768 flat 66.09 binomial 82.76
scatter rc 8 1 131072 flat 114.8 binomial 185.8
scatter rc 8 1 1048576 flat 784.4 binomial 1936
scatter rc 16 1 8 flat 142.1 binomial 160.7
scatter rc 16 1 256 flat 92.84 binomial 107.8
scatter rc 16 1 2048 flat 125.9 binomial 139.3
scatter rc 16 1 8192 flat 119.8 binomial 196.8
scatter rc 16 1 32768 flat 238.9 binomial 344.9
scatter rc 16 1 131072 flat 419.5 binomial 870.5
scatter rc 16 1 1048576 flat 3346 binomial 7141
)";

}  // namespace

std::vector<measurement> built_in_measurements() {
  std::vector<measurement> all;
  std::istringstream lines{rows};
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
