// Made by tools/tune --built-in: soft0, 2 cores of AMD EPYC. Do not edit.
#include "built_in.hpp"

#include <sstream>
#include <string>

namespace chorale::model {
namespace {

// operation transport ranks crowded bytes {algorithm microseconds}...; no algorithm's name has a space in it here.
constexpr const char* rows = R"(
allgather rc 2 0 8 recursive_doubling 0.4733 ring 0.4878 direct 0.4884 bruck 0.6187
allgather rc 2 0 256 recursive_doubling 0.7164 ring 0.7322 direct 0.7483 bruck 0.8918
allgather rc 2 0 2048 direct 1.148 recursive_doubling 1.163 ring 1.237 bruck 1.281
allgather rc 2 0 8192 direct 3.873 ring 3.911 bruck 4.066 recursive_doubling 4.203
allgather rc 2 0 32768 direct 15.97 ring 16.23 bruck 16.66 recursive_doubling 17.03
allgather rc 2 0 131072 direct 27.9 ring 28.33 bruck 28.44 recursive_doubling 29.18
allgather rc 2 0 1048576 bruck 185.8 recursive_doubling 188.3 ring 191.6 direct 200.1
allgather rc 4 1 8 direct 8.756 bruck 11.25 recursive_doubling 13.72 ring 14.73
allgather rc 4 1 256 direct 10.23 ring 13.91 bruck 23.66 recursive_doubling 24.33
allgather rc 4 1 2048 ring 30.46 recursive_doubling 44.52 direct 71.65 bruck 98.09
allgather rc 4 1 8192 direct 28.01 ring 28.29 bruck 35.03 recursive_doubling 38.83
allgather rc 4 1 32768 ring 104.8 direct 151 bruck 241.5 recursive_doubling 728.7
allgather rc 4 1 131072 bruck 351.7 ring 402.7 recursive_doubling 410.8 direct 2285
allgather rc 4 1 1048576 ring 4186 direct 5236 bruck 7223 recursive_doubling 8124
allgather rc 8 1 8 ring 68.31 direct 149.4 recursive_doubling 150.1 bruck 198.1
allgather rc 8 1 256 recursive_doubling 32.64 bruck 36.59 direct 53.77 ring 56.16
allgather rc 8 1 2048 bruck 50.12 recursive_doubling 50.8 direct 53.01 ring 65.39
allgather rc 8 1 8192 ring 91.58 bruck 139.9 recursive_doubling 140.1 direct 147.7
allgather rc 8 1 32768 ring 456.3 bruck 474 recursive_doubling 684.5 direct 997.5
allgather rc 8 1 131072 bruck 3795 recursive_doubling 4354 direct 4635 ring 4990
allgather rc 8 1 1048576 direct 2.572e+04 bruck 2.716e+04 ring 2.757e+04 recursive_doubling 2.78e+04
allgather rc 16 1 8 direct 2614 bruck 2625 recursive_doubling 3100 ring 3620
allgather rc 16 1 256 bruck 2219 direct 2975 recursive_doubling 3245 ring 3825
allgather rc 16 1 2048 direct 1798 recursive_doubling 3223 bruck 3545 ring 3851
allgather rc 16 1 8192 ring 1519 recursive_doubling 1569 bruck 1770 direct 2165
allgather rc 16 1 32768 recursive_doubling 3632 bruck 3679 direct 5474 ring 5540
allgather rc 16 1 131072 recursive_doubling 1.004e+04 bruck 1.046e+04 direct 1.205e+04 ring 1.265e+04
allgather rc 16 1 1048576 bruck 6.705e+04 recursive_doubling 6.858e+04 direct 7.758e+04 ring 8.161e+04
allreduce rc 2 0 8 recursive_doubling 0.4119 reproducible 0.4764 degree_k<1> 0.7979 degree_k<3> 0.8007 degree_k<7> 0.8114 rank_by_rank 0.8659 rabenseifner 0.9043 ring 0.9598 degree_k<15,flat> 36.57
allreduce rc 2 0 256 recursive_doubling 0.7726 reproducible 0.8291 degree_k<3> 1.28 degree_k<1> 1.294 degree_k<15,flat> 1.296 degree_k<7> 1.316 rabenseifner 1.44 rank_by_rank 1.457 ring 1.589
allreduce rc 2 0 2048 recursive_doubling 1.85 reproducible 2.148 rabenseifner 2.296 ring 2.512 degree_k<15,flat> 2.829 degree_k<1> 2.853 degree_k<3> 2.868 degree_k<7> 2.903 rank_by_rank 3.265
allreduce rc 2 0 8192 recursive_doubling 4.024 reproducible 4.699 rabenseifner 5.322 ring 5.398 degree_k<3> 6.458 degree_k<15,flat> 6.464 degree_k<1> 6.493 degree_k<7> 6.511 rank_by_rank 10.82
allreduce rc 2 0 32768 recursive_doubling 17.5 rabenseifner 17.59 ring 18.12 reproducible 19.67 degree_k<7> 20.07 degree_k<1> 20.13 degree_k<3> 20.5 degree_k<15,flat> 20.74 rank_by_rank 41.27
allreduce rc 2 0 131072 degree_k<3> 50.81 recursive_doubling 68.68 degree_k<7> 72.05 ring 72.58 degree_k<15,flat> 74.02 rabenseifner 76.24 reproducible 78.17 degree_k<1> 85.14 rank_by_rank 165.3
allreduce rc 2 0 1048576 recursive_doubling 590.3 ring 631.4 rabenseifner 725.2 reproducible 770.1 degree_k<7> 775.6 degree_k<15,flat> 795.6 degree_k<3> 856.1 degree_k<1> 900.3 rank_by_rank 6980
allreduce rc 4 1 8 reproducible 14.68 degree_k<7> 14.88 degree_k<3> 14.89 degree_k<15,flat> 14.9 recursive_doubling 14.93 rank_by_rank 19.55 ring 20.34 degree_k<1> 26.35 rabenseifner 31.37
allreduce rc 4 1 256 degree_k<15,flat> 13.78 degree_k<7> 14.71 degree_k<3> 14.74 reproducible 14.79 recursive_doubling 15.24 rank_by_rank 19.02 degree_k<1> 25.8 ring 27.42 rabenseifner 29.82
allreduce rc 4 1 2048 recursive_doubling 10.16 degree_k<15,flat> 11.38 degree_k<3> 11.38 reproducible 11.7 degree_k<7> 11.79 rabenseifner 19.27 rank_by_rank 21.51 ring 24.23 degree_k<1> 98.54
allreduce rc 4 1 8192 degree_k<15,flat> 89.13 degree_k<7> 96 ring 101.1 degree_k<3> 104.9 degree_k<1> 113.1 rank_by_rank 117 recursive_doubling 137.6 rabenseifner 184.5 reproducible 200.6
allreduce rc 4 1 32768 degree_k<15,flat> 56.54 degree_k<3> 60.18 degree_k<7> 61.69 degree_k<1> 67.64 rabenseifner 94.88 reproducible 99.98 ring 100.5 recursive_doubling 128 rank_by_rank 225.3
allreduce rc 4 1 131072 degree_k<15,flat> 108.7 degree_k<3> 111.3 degree_k<1> 116.9 degree_k<7> 160.1 ring 237 reproducible 255.7 rabenseifner 296.9 recursive_doubling 400.5 rank_by_rank 1236
allreduce rc 4 1 1048576 degree_k<3> 1383 degree_k<15,flat> 1422 degree_k<7> 1442 degree_k<1> 1501 ring 1921 rabenseifner 1931 reproducible 2131 recursive_doubling 2966 rank_by_rank 9605
allreduce rc 8 1 8 degree_k<15,flat> 46.31 degree_k<7> 72.42 degree_k<3> 73.77 recursive_doubling 82.26 degree_k<1> 102.5 rabenseifner 134.2 ring 161.7 rank_by_rank 168.6 reproducible 421.8
allreduce rc 8 1 256 degree_k<15,flat> 50.37 degree_k<7> 76.33 degree_k<3> 77.13 recursive_doubling 92.9 reproducible 108.4 degree_k<1> 109.6 rabenseifner 174 rank_by_rank 181.7 ring 297.5
allreduce rc 8 1 2048 degree_k<7> 52.14 degree_k<3> 75.31 recursive_doubling 97.98 degree_k<1> 99.68 reproducible 125.8 rank_by_rank 142.9 rabenseifner 150.3 degree_k<15,flat> 166.9 ring 209.5
allreduce rc 8 1 8192 degree_k<15,flat> 67.71 degree_k<7> 71.66 degree_k<3> 99.63 recursive_doubling 128.5 degree_k<1> 132.1 rabenseifner 190.3 reproducible 198.2 rank_by_rank 259.8 ring 292.3
allreduce rc 8 1 32768 degree_k<7> 158.6 degree_k<15,flat> 159.4 degree_k<3> 193.8 degree_k<1> 222.4 rabenseifner 353.2 reproducible 369.5 ring 383 recursive_doubling 542.5 rank_by_rank 619.4
allreduce rc 8 1 131072 degree_k<1> 363.9 degree_k<15,flat> 479.5 degree_k<7> 693.2 rabenseifner 1055 degree_k<3> 1511 reproducible 1959 ring 2340 recursive_doubling 3509 rank_by_rank 8468
allreduce rc 8 1 1048576 degree_k<3> 9247 degree_k<1> 9783 degree_k<7> 1.121e+04 degree_k<15,flat> 1.251e+04 rabenseifner 1.42e+04 reproducible 1.676e+04 ring 1.985e+04 recursive_doubling 2.709e+04 rank_by_rank 8.109e+04
allreduce rc 16 1 8 degree_k<7> 533.8 degree_k<3> 540.3 degree_k<1> 648.1 degree_k<15,flat> 659.7 recursive_doubling 702.5 rabenseifner 1530 ring 2844 reproducible 4452 rank_by_rank 5276
allreduce rc 16 1 256 degree_k<15,flat> 302.3 degree_k<1> 382.5 degree_k<7> 765.6 degree_k<3> 923.3 recursive_doubling 1361 reproducible 2924 rabenseifner 4751 ring 6644 rank_by_rank 6655
allreduce rc 16 1 2048 degree_k<1> 255.5 degree_k<7> 309.9 recursive_doubling 327 degree_k<15,flat> 785.5 degree_k<3> 3195 rabenseifner 3713 reproducible 3836 ring 4060 rank_by_rank 5918
allreduce rc 16 1 8192 degree_k<7> 165 degree_k<1> 190.6 degree_k<15,flat> 206.7 recursive_doubling 222.2 degree_k<3> 369.4 rabenseifner 627.6 rank_by_rank 1544 ring 2336 reproducible 3546
allreduce rc 16 1 32768 degree_k<7> 306.4 degree_k<15,flat> 424.8 degree_k<3> 452.2 degree_k<1> 586.8 rabenseifner 834.9 ring 1714 reproducible 2413 recursive_doubling 2425 rank_by_rank 9347
allreduce rc 16 1 131072 degree_k<3> 2339 degree_k<7> 3476 degree_k<1> 4115 degree_k<15,flat> 4246 rabenseifner 6329 reproducible 7386 ring 8828 recursive_doubling 9771 rank_by_rank 3.567e+04
allreduce rc 16 1 1048576 degree_k<3> 1.656e+04 degree_k<15,flat> 1.659e+04 degree_k<7> 1.677e+04 degree_k<1> 1.777e+04 rabenseifner 2.291e+04 ring 2.528e+04 reproducible 2.783e+04 recursive_doubling 1.052e+05 rank_by_rank 1.94e+05
alltoall rc 2 0 8 direct 0.573 pairwise 0.6027 bruck 0.6957
alltoall rc 2 0 256 direct 0.8597 pairwise 0.8929 bruck 1.008
alltoall rc 2 0 2048 direct 1.881 pairwise 1.937 bruck 2.587
alltoall rc 2 0 8192 direct 4.594 pairwise 4.621 bruck 11.31
alltoall rc 2 0 32768 pairwise 17.65 direct 17.65 bruck 27.83
alltoall rc 2 0 131072 pairwise 29.6 direct 29.88 bruck 102.8
alltoall rc 2 0 1048576 direct 191.3 pairwise 252.7 bruck 1009
alltoall rc 4 1 8 direct 11.77 bruck 16.01 pairwise 27.73
alltoall rc 4 1 256 direct 12.7 bruck 17.32 pairwise 29.13
alltoall rc 4 1 2048 direct 20.58 bruck 26.47 pairwise 30.8
alltoall rc 4 1 8192 direct 27.52 pairwise 42.17 bruck 383.5
alltoall rc 4 1 32768 direct 111.6 pairwise 154.3 bruck 357.6
alltoall rc 4 1 131072 direct 407.3 pairwise 411.5 bruck 1187
alltoall rc 4 1 1048576 direct 6832 pairwise 8299 bruck 1.457e+04
alltoall rc 8 1 8 bruck 33.33 direct 34.31 pairwise 70.36
alltoall rc 8 1 256 direct 59.03 bruck 74.06 pairwise 132.2
alltoall rc 8 1 2048 direct 84.86 bruck 123.6 pairwise 181.8
alltoall rc 8 1 8192 direct 171 pairwise 348.8 bruck 668.1
alltoall rc 8 1 32768 direct 766.9 pairwise 1134 bruck 1952
alltoall rc 8 1 131072 pairwise 5072 direct 7026 bruck 1.269e+04
alltoall rc 8 1 1048576 pairwise 3.09e+04 direct 3.227e+04 bruck 1.434e+05
alltoall rc 16 1 8 bruck 358.3 direct 2248 pairwise 9171
alltoall rc 16 1 256 bruck 456.8 direct 710.4 pairwise 4972
alltoall rc 16 1 2048 direct 1505 bruck 1541 pairwise 5631
alltoall rc 16 1 8192 direct 3895 bruck 3914 pairwise 6263
alltoall rc 16 1 32768 direct 1.018e+04 pairwise 1.135e+04 bruck 2.038e+04
alltoall rc 16 1 131072 direct 1.752e+04 pairwise 2.407e+04 bruck 6.271e+04
alltoall rc 16 1 1048576 direct 1.104e+05 pairwise 1.236e+05 bruck 5.542e+05
barrier rc 2 0 0 dissemination 0.3287 dissemination_k<3> 0.3338 pairwise_exchange 0.3338 dissemination_k<7> 0.3372 central 0.6255
barrier rc 4 1 0 dissemination_k<7> 5.674 dissemination_k<3> 5.742 central 7.25 dissemination 7.409 pairwise_exchange 7.978
barrier rc 8 1 0 central 30.83 dissemination_k<7> 43.15 dissemination_k<3> 54.03 dissemination 57.19 pairwise_exchange 61.45
barrier rc 16 1 0 central 47.92 dissemination_k<7> 105 pairwise_exchange 114.5 dissemination_k<3> 428.2 dissemination 592.9
broadcast rc 2 0 8 flat 0.2904 chain 0.2957 binomial 0.3109 binomial_store_and_forward 0.324 scatter_allgather 0.5566
broadcast rc 2 0 256 flat 0.5149 chain 0.5235 binomial 0.5327 binomial_store_and_forward 0.5537 scatter_allgather 1.503
broadcast rc 2 0 2048 flat 0.8916 chain 0.9015 binomial 0.9071 binomial_store_and_forward 0.9332 scatter_allgather 2.049
broadcast rc 2 0 8192 flat 2.791 binomial 2.83 chain 2.855 binomial_store_and_forward 2.864 scatter_allgather 4.312
broadcast rc 2 0 32768 chain 7.131 binomial 9.809 flat 9.929 binomial_store_and_forward 10.05 scatter_allgather 12.86
broadcast rc 2 0 131072 binomial_store_and_forward 37.7 flat 37.89 chain 38.52 binomial 38.61 scatter_allgather 49.02
broadcast rc 2 0 1048576 chain 133.8 binomial 134.7 flat 135 binomial_store_and_forward 136.5 scatter_allgather 338.1
broadcast rc 4 1 8 flat 8.475 binomial 10.18 binomial_store_and_forward 10.3 chain 10.88 scatter_allgather 13.01
broadcast rc 4 1 256 flat 10.28 binomial_store_and_forward 11.97 chain 12.88 binomial 20.92 scatter_allgather 28.69
broadcast rc 4 1 2048 flat 15.55 binomial 26.7 chain 26.76 binomial_store_and_forward 27.14 scatter_allgather 49.84
broadcast rc 4 1 8192 flat 15.95 binomial 26.04 chain 26.21 binomial_store_and_forward 26.53 scatter_allgather 47.5
broadcast rc 4 1 32768 flat 25.91 binomial_store_and_forward 37.76 chain 37.89 binomial 38 scatter_allgather 67.38
broadcast rc 4 1 131072 binomial 62.36 chain 72.96 binomial_store_and_forward 79.77 scatter_allgather 161.2 flat 540.1
broadcast rc 4 1 1048576 chain 1086 binomial_store_and_forward 1630 flat 2357 binomial 2482 scatter_allgather 3507
broadcast rc 8 1 8 flat 40.78 binomial 70.82 chain 112.1 binomial_store_and_forward 127.8 scatter_allgather 157.1
broadcast rc 8 1 256 flat 41.86 binomial 71.43 binomial_store_and_forward 81.24 chain 101.2 scatter_allgather 180
broadcast rc 8 1 2048 binomial 100.2 flat 133.2 chain 660.6 binomial_store_and_forward 724.7 scatter_allgather 829.3
broadcast rc 8 1 8192 flat 54.32 binomial_store_and_forward 82.76 binomial 84.57 scatter_allgather 349 chain 2687
broadcast rc 8 1 32768 flat 115.7 binomial 119.9 binomial_store_and_forward 125.7 chain 180.4 scatter_allgather 411.3
broadcast rc 8 1 131072 binomial_store_and_forward 199 chain 254.5 binomial 281.4 flat 478.9 scatter_allgather 709.8
broadcast rc 8 1 1048576 chain 4414 binomial_store_and_forward 4771 binomial 8366 flat 9552 scatter_allgather 1.845e+04
broadcast rc 16 1 8 binomial 125.2 flat 305.8 binomial_store_and_forward 310.8 scatter_allgather 390.3 chain 781.1
broadcast rc 16 1 256 flat 73.01 binomial_store_and_forward 120.1 chain 226.9 scatter_allgather 373.5 binomial 650.3
broadcast rc 16 1 2048 flat 105.5 binomial_store_and_forward 157.3 binomial 169.1 chain 243.1 scatter_allgather 2161
broadcast rc 16 1 8192 flat 90.78 binomial 111.4 binomial_store_and_forward 121.8 chain 201.1 scatter_allgather 1485
broadcast rc 16 1 32768 flat 175 binomial 195 binomial_store_and_forward 298.7 chain 880.1 scatter_allgather 3301
broadcast rc 16 1 131072 flat 515.8 binomial 554.1 binomial_store_and_forward 1325 chain 1637 scatter_allgather 3616
broadcast rc 16 1 1048576 binomial 6432 chain 8433 flat 8618 binomial_store_and_forward 9550 scatter_allgather 1.568e+04
gather rc 2 0 8 flat 0.319 binomial 0.4435
gather rc 2 0 256 flat 0.5081 binomial 0.5754
gather rc 2 0 2048 flat 0.9422 binomial 0.9915
gather rc 2 0 8192 flat 3.102 binomial 3.271
gather rc 2 0 32768 binomial 11.17 flat 11.31
gather rc 2 0 131072 flat 22.96 binomial 23.6
gather rc 2 0 1048576 flat 165 binomial 168
gather rc 4 1 8 flat 14.45 binomial 25.02
gather rc 4 1 256 flat 16.67 binomial 28.13
gather rc 4 1 2048 flat 17.84 binomial 30.62
gather rc 4 1 8192 flat 14.35 binomial 26.38
gather rc 4 1 32768 flat 31.96 binomial 53.04
gather rc 4 1 131072 binomial 115.3 flat 132.1
gather rc 4 1 1048576 flat 3043 binomial 3289
gather rc 8 1 8 binomial 29.91 flat 47.17
gather rc 8 1 256 flat 23.57 binomial 35.2
gather rc 8 1 2048 flat 21.98 binomial 37.46
gather rc 8 1 8192 flat 26.19 binomial 43.85
gather rc 8 1 32768 flat 45.93 binomial 116.7
gather rc 8 1 131072 flat 208.3 binomial 279.6
gather rc 8 1 1048576 binomial 4778 flat 4781
gather rc 16 1 8 flat 115.5 binomial 207.5
gather rc 16 1 256 flat 126.3 binomial 200.1
gather rc 16 1 2048 flat 126.6 binomial 308.7
gather rc 16 1 8192 flat 125.8 binomial 268.7
gather rc 16 1 32768 flat 209.7 binomial 411.7
gather rc 16 1 131072 flat 2067 binomial 2080
gather rc 16 1 1048576 flat 8715 binomial 1.683e+04
reduce rc 2 0 8 degree_k<3> 0.3448 reproducible 0.3458 degree_k<15> 0.3525 degree_k<1> 0.3535 degree_k<7> 0.3619
reduce rc 2 0 256 degree_k<1> 0.5121 reproducible 0.5145 degree_k<3> 0.5183 degree_k<7> 0.5265 degree_k<15> 0.5295
reduce rc 2 0 2048 reproducible 1.048 degree_k<3> 1.053 degree_k<7> 1.065 degree_k<1> 1.07 degree_k<15> 1.108
reduce rc 2 0 8192 degree_k<1> 2.461 reproducible 2.525 degree_k<7> 2.668 degree_k<3> 2.668 degree_k<15> 2.714
reduce rc 2 0 32768 degree_k<7> 7.74 degree_k<1> 7.742 reproducible 7.913 degree_k<3> 8.037 degree_k<15> 8.174
reduce rc 2 0 131072 degree_k<1> 24.96 degree_k<7> 25.25 degree_k<15> 25.37 degree_k<3> 25.57 reproducible 25.74
reduce rc 2 0 1048576 degree_k<3> 201.4 degree_k<1> 209.4 reproducible 212.3 degree_k<7> 218.1 degree_k<15> 220.3
reduce rc 4 1 8 degree_k<7> 11.89 degree_k<15> 12.12 degree_k<3> 55.06 reproducible 67.04 degree_k<1> 76.74
reduce rc 4 1 256 reproducible 13.68 degree_k<15> 14.09 degree_k<3> 15.8 degree_k<1> 18.6 degree_k<7> 69.34
reduce rc 4 1 2048 reproducible 15.4 degree_k<7> 15.64 degree_k<15> 17.46 degree_k<3> 57.5 degree_k<1> 193.6
reduce rc 4 1 8192 degree_k<7> 20.38 reproducible 20.73 degree_k<3> 20.97 degree_k<15> 21.22 degree_k<1> 31.67
reduce rc 4 1 32768 degree_k<3> 32.68 degree_k<7> 32.82 reproducible 32.85 degree_k<15> 32.95 degree_k<1> 43.7
reduce rc 4 1 131072 degree_k<1> 90.84 degree_k<15> 99.3 reproducible 100.6 degree_k<3> 102.5 degree_k<7> 103
reduce rc 4 1 1048576 degree_k<1> 839.7 reproducible 970.7 degree_k<7> 1046 degree_k<3> 1072 degree_k<15> 1111
reduce rc 8 1 8 degree_k<7> 48.18 degree_k<15> 102.1 degree_k<3> 147.2 reproducible 382.5 degree_k<1> 2839
reduce rc 8 1 256 reproducible 46.35 degree_k<7> 48.56 degree_k<15> 49.21 degree_k<3> 56.79 degree_k<1> 82.33
reduce rc 8 1 2048 degree_k<15> 57.7 degree_k<7> 58.49 reproducible 59.28 degree_k<3> 70.35 degree_k<1> 107.2
reduce rc 8 1 8192 reproducible 61.17 degree_k<15> 62.35 degree_k<7> 63.54 degree_k<3> 92.94 degree_k<1> 122.9
reduce rc 8 1 32768 degree_k<7> 108.3 degree_k<15> 111.7 reproducible 112 degree_k<3> 119.4 degree_k<1> 153.9
reduce rc 8 1 131072 reproducible 194.9 degree_k<7> 302.4 degree_k<3> 305.3 degree_k<15> 318.3 degree_k<1> 358.4
reduce rc 8 1 1048576 reproducible 2011 degree_k<7> 2177 degree_k<1> 2479 degree_k<3> 2747 degree_k<15> 3910
reduce rc 16 1 8 degree_k<15> 92.84 degree_k<7> 137.9 reproducible 189 degree_k<3> 217.7 degree_k<1> 270.8
reduce rc 16 1 256 degree_k<15> 125.6 reproducible 128.3 degree_k<3> 141.9 degree_k<7> 172.4 degree_k<1> 198.6
reduce rc 16 1 2048 degree_k<15> 105.4 reproducible 120.8 degree_k<7> 167.6 degree_k<3> 192 degree_k<1> 213.1
reduce rc 16 1 8192 reproducible 145.2 degree_k<15> 152.4 degree_k<7> 196.7 degree_k<3> 217.3 degree_k<1> 224
reduce rc 16 1 32768 degree_k<15> 225.9 degree_k<7> 235.2 reproducible 246.5 degree_k<3> 253.1 degree_k<1> 304
reduce rc 16 1 131072 reproducible 341.6 degree_k<15> 787.5 degree_k<7> 795.3 degree_k<1> 798.9 degree_k<3> 919.7
reduce rc 16 1 1048576 degree_k<7> 7097 degree_k<3> 7487 reproducible 9594 degree_k<15> 9905 degree_k<1> 1.157e+04
reduce_scatter rc 2 0 8 direct 0.3216 recursive_halving 0.3799
reduce_scatter rc 2 0 256 direct 0.4043 recursive_halving 0.4981
reduce_scatter rc 2 0 2048 direct 0.7038 recursive_halving 1.002
reduce_scatter rc 2 0 8192 direct 1.707 recursive_halving 2.434
reduce_scatter rc 2 0 32768 direct 6.475 recursive_halving 10.38
reduce_scatter rc 2 0 131072 direct 25.29 recursive_halving 37.26
reduce_scatter rc 2 0 1048576 direct 531.9 recursive_halving 971.5
reduce_scatter rc 4 1 8 direct 12.42 recursive_halving 16.01
reduce_scatter rc 4 1 256 direct 13.54 recursive_halving 20.43
reduce_scatter rc 4 1 2048 direct 19.58 recursive_halving 29.68
reduce_scatter rc 4 1 8192 direct 31.17 recursive_halving 49.67
reduce_scatter rc 4 1 32768 direct 124 recursive_halving 187.7
reduce_scatter rc 4 1 131072 direct 629.9 recursive_halving 854.7
reduce_scatter rc 4 1 1048576 direct 1.011e+04 recursive_halving 1.274e+04
reduce_scatter rc 8 1 8 direct 73.15 recursive_halving 103.4
reduce_scatter rc 8 1 256 direct 84.28 recursive_halving 109.5
reduce_scatter rc 8 1 2048 direct 96.54 recursive_halving 251.5
reduce_scatter rc 8 1 8192 direct 142 recursive_halving 271.7
reduce_scatter rc 8 1 32768 direct 499.9 recursive_halving 2870
reduce_scatter rc 8 1 131072 direct 8334 recursive_halving 9848
reduce_scatter rc 8 1 1048576 direct 6.766e+04 recursive_halving 8.078e+04
reduce_scatter rc 16 1 8 recursive_halving 270.4 direct 2011
reduce_scatter rc 16 1 256 recursive_halving 277.6 direct 566.3
reduce_scatter rc 16 1 2048 recursive_halving 485 direct 1535
reduce_scatter rc 16 1 8192 direct 2189 recursive_halving 2517
reduce_scatter rc 16 1 32768 direct 5321 recursive_halving 1.022e+04
reduce_scatter rc 16 1 131072 direct 3.311e+04 recursive_halving 4.467e+04
reduce_scatter rc 16 1 1048576 direct 2.982e+05 recursive_halving 3.211e+05
scan rc 2 0 8 chain 0.1696 recursive_doubling 0.2939
scan rc 2 0 256 chain 0.1997 recursive_doubling 0.3453
scan rc 2 0 2048 chain 0.3358 recursive_doubling 0.8047
scan rc 2 0 8192 chain 0.835 recursive_doubling 2.313
scan rc 2 0 32768 chain 3.181 recursive_doubling 8.546
scan rc 2 0 131072 chain 12.83 recursive_doubling 51.76
scan rc 2 0 1048576 chain 237.3 recursive_doubling 704.5
scan rc 4 1 8 chain 1.278 recursive_doubling 3.135
scan rc 4 1 256 chain 1.106 recursive_doubling 2.612
scan rc 4 1 2048 chain 1.966 recursive_doubling 6.422
scan rc 4 1 8192 chain 4.022 recursive_doubling 13.72
scan rc 4 1 32768 chain 18.75 recursive_doubling 71.86
scan rc 4 1 131072 chain 82.19 recursive_doubling 348.3
scan rc 4 1 1048576 chain 795.5 recursive_doubling 3320
scan rc 8 1 8 chain 2.859 recursive_doubling 31.88
scan rc 8 1 256 chain 3.877 recursive_doubling 66.07
scan rc 8 1 2048 chain 6.933 recursive_doubling 36.6
scan rc 8 1 8192 chain 10.9 recursive_doubling 40.13
scan rc 8 1 32768 chain 43.89 recursive_doubling 167.1
scan rc 8 1 131072 chain 180.4 recursive_doubling 3166
scan rc 8 1 1048576 chain 6487 recursive_doubling 2.193e+04
scan rc 16 1 8 chain 23.52 recursive_doubling 989.7
scan rc 16 1 256 chain 18.56 recursive_doubling 90.06
scan rc 16 1 2048 chain 27.55 recursive_doubling 790.7
scan rc 16 1 8192 chain 347.5 recursive_doubling 1067
scan rc 16 1 32768 chain 167.1 recursive_doubling 667.3
scan rc 16 1 131072 chain 2198 recursive_doubling 1.792e+04
scan rc 16 1 1048576 chain 7196 recursive_doubling 4.624e+04
scatter rc 2 0 8 flat 0.2943 binomial 0.3602
scatter rc 2 0 256 flat 0.3432 binomial 0.4067
scatter rc 2 0 2048 flat 0.5168 binomial 0.5798
scatter rc 2 0 8192 flat 1.056 binomial 1.186
scatter rc 2 0 32768 flat 4.051 binomial 4.117
scatter rc 2 0 131072 flat 23.45 binomial 23.6
scatter rc 2 0 1048576 flat 173.7 binomial 183.3
scatter rc 4 1 8 flat 15.92 binomial 19.3
scatter rc 4 1 256 flat 16.21 binomial 28.33
scatter rc 4 1 2048 flat 13.93 binomial 20.03
scatter rc 4 1 8192 flat 20.24 binomial 26.44
scatter rc 4 1 32768 flat 29.08 binomial 38.04
scatter rc 4 1 131072 flat 107.5 binomial 148.8
scatter rc 4 1 1048576 flat 1174 binomial 1689
scatter rc 8 1 8 binomial 30.97 flat 112.3
scatter rc 8 1 256 flat 19.96 binomial 31.74
scatter rc 8 1 2048 flat 53.21 binomial 103.2
scatter rc 8 1 8192 flat 59.03 binomial 114.5
scatter rc 8 1 32768 flat 99 binomial 261
scatter rc 8 1 131072 flat 291.1 binomial 478.2
scatter rc 8 1 1048576 flat 4177 binomial 7892
scatter rc 16 1 8 flat 241 binomial 242.8
scatter rc 16 1 256 flat 109.3 binomial 186.9
scatter rc 16 1 2048 flat 125.9 binomial 262.8
scatter rc 16 1 8192 flat 183 binomial 274.3
scatter rc 16 1 32768 flat 220.2 binomial 1835
scatter rc 16 1 131072 flat 2451 binomial 6202
scatter rc 16 1 1048576 flat 1.105e+04 binomial 2.315e+04
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
