// Made by tools/tune --built-in: soft0, 2 cores of AMD EPYC. Do not edit.
#include "built_in.hpp"

#include <sstream>
#include <string>

namespace chorale::model {
namespace {

// operation transport ranks crowded bytes {algorithm microseconds}...; no algorithm's name has a space in it here.
constexpr const char* rows = R"(
allgather rc 2 0 8 ring 0.1948 recursive_doubling 0.1978 direct 0.1978 bruck 0.2585
allgather rc 2 0 256 recursive_doubling 0.2449 ring 0.2619 direct 0.2662 bruck 0.3234
allgather rc 2 0 2048 recursive_doubling 0.3925 ring 0.402 direct 0.4056 bruck 0.4735
allgather rc 2 0 8192 direct 1.033 ring 1.056 bruck 1.092 recursive_doubling 1.123
allgather rc 2 0 32768 ring 3.955 direct 3.977 bruck 4.038 recursive_doubling 4.106
allgather rc 2 0 131072 direct 17.63 ring 17.77 bruck 17.9 recursive_doubling 17.9
allgather rc 2 0 1048576 direct 125.2 bruck 125.2 recursive_doubling 126.8 ring 130.4
allgather rc 4 1 8 direct 6.063 recursive_doubling 6.899 bruck 8.643 ring 10.55
allgather rc 4 1 256 direct 7.154 recursive_doubling 7.632 bruck 9.687 ring 11.68
allgather rc 4 1 2048 direct 9.851 recursive_doubling 10.83 bruck 13.28 ring 13.9
allgather rc 4 1 8192 direct 19.01 ring 20.29 recursive_doubling 24.5 bruck 26.52
allgather rc 4 1 32768 direct 55.16 ring 62.67 recursive_doubling 73.56 bruck 78.1
allgather rc 4 1 131072 direct 191 bruck 210.9 ring 214.8 recursive_doubling 216.9
allgather rc 4 1 1048576 recursive_doubling 1590 direct 1621 bruck 1767 ring 1783
allgather rc 8 1 8 direct 20.5 recursive_doubling 22.07 bruck 25.77 ring 44.21
allgather rc 8 1 256 recursive_doubling 25.77 direct 26.68 bruck 29.74 ring 47.43
allgather rc 8 1 2048 direct 31.6 bruck 37.82 recursive_doubling 38.53 ring 51.59
allgather rc 8 1 8192 direct 77.49 ring 105.4 recursive_doubling 109.6 bruck 112.9
allgather rc 8 1 32768 direct 704.7 bruck 807.4 recursive_doubling 829.7 ring 1101
allgather rc 8 1 131072 bruck 1719 recursive_doubling 1792 direct 1899 ring 2059
allgather rc 8 1 1048576 bruck 1.205e+04 direct 1.229e+04 recursive_doubling 1.257e+04 ring 1.293e+04
allgather rc 16 1 8 recursive_doubling 61.5 direct 65.73 bruck 73.47 ring 166.5
allgather rc 16 1 256 recursive_doubling 77.17 bruck 94.03 direct 95.48 ring 184.2
allgather rc 16 1 2048 direct 155 recursive_doubling 162.1 bruck 172 ring 273.9
allgather rc 16 1 8192 direct 234.4 ring 356.7 bruck 461.1 recursive_doubling 468.5
allgather rc 16 1 32768 bruck 906.5 recursive_doubling 930.4 direct 1023 ring 1321
allgather rc 16 1 131072 bruck 3014 recursive_doubling 3022 direct 3300 ring 3408
allgather rc 16 1 1048576 direct 2.167e+04 ring 2.21e+04 recursive_doubling 2.413e+04 bruck 2.453e+04
allreduce rc 2 0 8 recursive_doubling 0.265 reproducible 0.2986 degree_k<15,flat> 0.4026 degree_k<1> 0.4049 degree_k<3> 0.4073 degree_k<7> 0.417 rank_by_rank 0.5634 rabenseifner 0.6143 ring 0.7387
allreduce rc 2 0 256 recursive_doubling 0.2998 reproducible 0.3549 degree_k<3> 0.4724 degree_k<1> 0.4731 degree_k<15,flat> 0.4755 degree_k<7> 0.4824 rank_by_rank 0.6367 rabenseifner 0.6566 ring 0.7605
allreduce rc 2 0 2048 recursive_doubling 0.5063 reproducible 0.7162 degree_k<1> 0.7339 degree_k<7> 0.7412 degree_k<15,flat> 0.7423 degree_k<3> 0.7437 rabenseifner 0.9044 ring 1.017 rank_by_rank 1.212
allreduce rc 2 0 8192 recursive_doubling 1.485 degree_k<3> 1.856 degree_k<15,flat> 1.857 degree_k<1> 1.861 degree_k<7> 1.871 rabenseifner 1.892 ring 1.996 reproducible 2.052 rank_by_rank 3.561
allreduce rc 2 0 32768 recursive_doubling 5.881 rabenseifner 5.972 ring 6.045 degree_k<15,flat> 6.089 degree_k<3> 6.125 degree_k<1> 6.126 degree_k<7> 6.13 reproducible 8.002 rank_by_rank 36
allreduce rc 2 0 131072 degree_k<1> 23.91 degree_k<3> 23.98 degree_k<7> 23.98 degree_k<15,flat> 24.1 rabenseifner 24.21 ring 24.69 recursive_doubling 24.92 reproducible 32.56 rank_by_rank 145.7
allreduce rc 2 0 1048576 recursive_doubling 151 rabenseifner 154.3 ring 155.8 degree_k<15,flat> 201.1 degree_k<7> 201.2 degree_k<3> 201.6 degree_k<1> 214.8 reproducible 230 rank_by_rank 1372
allreduce rc 4 1 8 reproducible 5.347 recursive_doubling 6.152 degree_k<15,flat> 7.219 degree_k<3> 8.183 degree_k<7> 8.234 degree_k<1> 10.71 rabenseifner 12.42 rank_by_rank 13.16 ring 13.9
allreduce rc 4 1 256 reproducible 6.82 recursive_doubling 7.36 degree_k<15,flat> 7.908 degree_k<7> 8.089 degree_k<3> 8.14 degree_k<1> 11.12 rabenseifner 15.51 rank_by_rank 15.54 ring 21.83
allreduce rc 4 1 2048 recursive_doubling 9.613 degree_k<7> 10.08 degree_k<3> 10.28 degree_k<15,flat> 10.53 reproducible 10.62 degree_k<1> 12.92 rabenseifner 16.73 rank_by_rank 20.85 ring 24.57
allreduce rc 4 1 8192 recursive_doubling 15.7 degree_k<3> 16.85 degree_k<7> 17.09 degree_k<15,flat> 17.8 degree_k<1> 18.83 reproducible 20.33 rabenseifner 22.76 ring 32.52 rank_by_rank 46.77
allreduce rc 4 1 32768 degree_k<1> 33.17 degree_k<7> 35.67 degree_k<3> 35.9 rabenseifner 40.82 degree_k<15,flat> 41.7 reproducible 44.83 ring 44.99 recursive_doubling 58.61 rank_by_rank 118.2
allreduce rc 4 1 131072 degree_k<1> 109.2 degree_k<7> 123.4 degree_k<3> 138.9 degree_k<15,flat> 148.3 rabenseifner 158.1 reproducible 180.5 ring 181.7 recursive_doubling 236.9 rank_by_rank 693.7
allreduce rc 4 1 1048576 degree_k<1> 1173 degree_k<3> 1317 degree_k<7> 1343 rabenseifner 1352 ring 1434 reproducible 1465 degree_k<15,flat> 1530 recursive_doubling 2132 rank_by_rank 6808
allreduce rc 8 1 8 degree_k<15,flat> 20.23 reproducible 27.42 recursive_doubling 28.98 degree_k<7> 29.42 degree_k<3> 31.57 degree_k<1> 39.54 rabenseifner 47.51 ring 69.76 rank_by_rank 75.86
allreduce rc 8 1 256 degree_k<15,flat> 20.89 degree_k<7> 30.94 recursive_doubling 31.92 reproducible 32.55 degree_k<3> 32.72 degree_k<1> 40.77 rabenseifner 57.53 rank_by_rank 79.97 ring 109.1
allreduce rc 8 1 2048 degree_k<15,flat> 24.42 recursive_doubling 33.11 degree_k<7> 33.3 degree_k<3> 34.41 degree_k<1> 42.25 reproducible 45.14 rabenseifner 58.21 rank_by_rank 94.53 ring 118.2
allreduce rc 8 1 8192 degree_k<15,flat> 38.88 degree_k<7> 46.06 degree_k<3> 48.49 recursive_doubling 51.3 degree_k<1> 55.44 rabenseifner 73.15 reproducible 90.67 ring 138.7 rank_by_rank 163.9
allreduce rc 8 1 32768 degree_k<3> 96.41 degree_k<7> 98.82 degree_k<1> 101.8 degree_k<15,flat> 104.9 rabenseifner 131.9 reproducible 166.7 ring 176.4 recursive_doubling 213.2 rank_by_rank 439.4
allreduce rc 8 1 131072 degree_k<7> 291.4 degree_k<3> 323.6 degree_k<1> 326.1 degree_k<15,flat> 348.7 reproducible 412.1 rabenseifner 447 ring 462.1 recursive_doubling 744.1 rank_by_rank 1619
allreduce rc 8 1 1048576 degree_k<1> 2759 degree_k<7> 2876 degree_k<15,flat> 3091 degree_k<3> 3123 rabenseifner 3304 reproducible 3378 ring 3668 recursive_doubling 6760 rank_by_rank 2.329e+04
allreduce rc 16 1 8 degree_k<15,flat> 51 recursive_doubling 83.94 degree_k<7> 86.54 degree_k<3> 90.51 degree_k<1> 102.6 reproducible 111.2 rabenseifner 140.3 rank_by_rank 352.6 ring 388.1
allreduce rc 16 1 256 degree_k<15,flat> 37.98 degree_k<7> 70.09 recursive_doubling 74.65 degree_k<3> 76.76 degree_k<1> 85.46 reproducible 105.9 rabenseifner 149.2 rank_by_rank 295.2 ring 443.6
allreduce rc 16 1 2048 degree_k<15,flat> 49.5 recursive_doubling 87.18 degree_k<7> 87.91 degree_k<3> 88.15 degree_k<1> 105.5 reproducible 147.7 rabenseifner 159.8 rank_by_rank 374.2 ring 474.3
allreduce rc 16 1 8192 degree_k<15,flat> 69.84 degree_k<7> 103.8 degree_k<3> 104.2 recursive_doubling 120.5 degree_k<1> 120.8 rabenseifner 173.7 reproducible 225.3 ring 501.9 rank_by_rank 537.8
allreduce rc 16 1 32768 degree_k<15,flat> 168.7 degree_k<3> 179.8 degree_k<1> 182.2 degree_k<7> 203.4 rabenseifner 315 recursive_doubling 522.3 reproducible 562.9 ring 618.8 rank_by_rank 1226
allreduce rc 16 1 131072 degree_k<3> 360 degree_k<1> 498.5 degree_k<7> 500.7 degree_k<15,flat> 519.9 reproducible 685.8 ring 744.7 rabenseifner 864 recursive_doubling 2003 rank_by_rank 5076
allreduce rc 16 1 1048576 degree_k<1> 3575 degree_k<3> 3628 degree_k<15,flat> 3651 degree_k<7> 3742 rabenseifner 5328 reproducible 6318 ring 6722 recursive_doubling 1.481e+04 rank_by_rank 5.166e+04
alltoall rc 2 0 8 direct 0.2092 pairwise 0.242 bruck 0.2762
alltoall rc 2 0 256 direct 0.2775 pairwise 0.3173 bruck 0.3594
alltoall rc 2 0 2048 direct 0.4175 pairwise 0.4458 bruck 0.7334
alltoall rc 2 0 8192 direct 1.031 pairwise 1.075 bruck 4.536
alltoall rc 2 0 32768 direct 3.951 pairwise 4.018 bruck 9.531
alltoall rc 2 0 131072 pairwise 18.33 direct 18.37 bruck 30.79
alltoall rc 2 0 1048576 direct 132.5 pairwise 132.7 bruck 274
alltoall rc 4 1 8 direct 6.19 bruck 8.512 pairwise 11.9
alltoall rc 4 1 256 direct 5.748 bruck 8.287 pairwise 10.86
alltoall rc 4 1 2048 direct 6.481 bruck 11.12 pairwise 12.06
alltoall rc 4 1 8192 direct 9.658 pairwise 15.1 bruck 45.44
alltoall rc 4 1 32768 direct 36.66 pairwise 54.79 bruck 113.9
alltoall rc 4 1 131072 direct 137.3 pairwise 147 bruck 444.3
alltoall rc 4 1 1048576 direct 1869 pairwise 1931 bruck 5189
alltoall rc 8 1 8 direct 55.03 bruck 67.73 pairwise 160
alltoall rc 8 1 256 direct 75.7 bruck 94.79 pairwise 202.2
alltoall rc 8 1 2048 direct 95.58 bruck 139.4 pairwise 224.8
alltoall rc 8 1 8192 direct 120.4 pairwise 225.9 bruck 2960
alltoall rc 8 1 32768 direct 577.4 pairwise 867.8 bruck 1844
alltoall rc 8 1 131072 direct 2294 pairwise 2498 bruck 7804
alltoall rc 8 1 1048576 direct 1.451e+04 pairwise 1.488e+04 bruck 5.843e+04
alltoall rc 16 1 8 direct 73.13 bruck 82 pairwise 262.5
alltoall rc 16 1 256 direct 103.5 bruck 106.1 pairwise 305.6
alltoall rc 16 1 2048 direct 182.4 bruck 319.2 pairwise 882.9
alltoall rc 16 1 8192 direct 237.2 pairwise 611 bruck 1199
alltoall rc 16 1 32768 direct 1383 pairwise 2062 bruck 4305
alltoall rc 16 1 131072 direct 4152 pairwise 4899 bruck 1.884e+04
alltoall rc 16 1 1048576 direct 2.611e+04 pairwise 2.802e+04 bruck 1.626e+05
barrier rc 2 0 0 dissemination 0.1215 pairwise_exchange 0.1247 dissemination_k<3> 0.1333 dissemination_k<7> 0.1336 central 0.1892
barrier rc 4 1 0 dissemination_k<3> 4.446 dissemination_k<7> 4.465 pairwise_exchange 5.605 central 5.679 dissemination 6.012
barrier rc 8 1 0 central 15.53 dissemination_k<7> 18.07 dissemination_k<3> 20.85 dissemination 22.66 pairwise_exchange 24.12
barrier rc 16 1 0 central 79.51 dissemination_k<3> 150.9 dissemination_k<7> 152.2 dissemination 176.4 pairwise_exchange 185.2
broadcast rc 2 0 8 flat 0.1849 binomial 0.1885 chain 0.1942 binomial_store_and_forward 0.2099 scatter_allgather 0.4682
broadcast rc 2 0 256 flat 0.2105 binomial 0.2135 chain 0.2143 binomial_store_and_forward 0.2327 scatter_allgather 0.6654
broadcast rc 2 0 2048 flat 0.2758 binomial 0.2797 chain 0.2816 binomial_store_and_forward 0.3047 scatter_allgather 0.8186
broadcast rc 2 0 8192 flat 0.5595 binomial 0.5632 chain 0.5746 binomial_store_and_forward 0.5858 scatter_allgather 1.361
broadcast rc 2 0 32768 chain 2.079 flat 2.111 binomial_store_and_forward 2.119 binomial 2.127 scatter_allgather 3.467
broadcast rc 2 0 131072 flat 10.14 binomial 10.42 chain 10.78 binomial_store_and_forward 10.8 scatter_allgather 15.72
broadcast rc 2 0 1048576 chain 113.9 binomial_store_and_forward 114 flat 114 binomial 116.9 scatter_allgather 136.4
broadcast rc 4 1 8 flat 7.084 binomial_store_and_forward 7.431 binomial 7.498 chain 11.78 scatter_allgather 13.42
broadcast rc 4 1 256 flat 7.073 binomial_store_and_forward 7.227 binomial 7.502 chain 11.63 scatter_allgather 16.36
broadcast rc 4 1 2048 flat 7.945 binomial 8.874 binomial_store_and_forward 9.217 chain 13.44 scatter_allgather 20.22
broadcast rc 4 1 8192 flat 8.595 binomial 9.197 binomial_store_and_forward 9.369 chain 13.55 scatter_allgather 19.81
broadcast rc 4 1 32768 binomial 13.47 flat 14.66 binomial_store_and_forward 15.12 chain 18.18 scatter_allgather 24.71
broadcast rc 4 1 131072 binomial 28.72 chain 35.9 flat 37.35 binomial_store_and_forward 46.11 scatter_allgather 68.94
broadcast rc 4 1 1048576 binomial_store_and_forward 287.4 chain 315.9 binomial 344.7 flat 367.7 scatter_allgather 388.3
broadcast rc 8 1 8 flat 25.88 binomial 36.72 binomial_store_and_forward 37.09 chain 52.13 scatter_allgather 63.28
broadcast rc 8 1 256 flat 23.69 binomial 36.81 binomial_store_and_forward 37.46 chain 58.63 scatter_allgather 82.93
broadcast rc 8 1 2048 flat 23.01 binomial_store_and_forward 32.7 binomial 33.27 chain 53.27 scatter_allgather 86.17
broadcast rc 8 1 8192 flat 31.63 binomial_store_and_forward 44.03 binomial 44.9 chain 64.77 scatter_allgather 105.2
broadcast rc 8 1 32768 flat 56.94 binomial 57.45 binomial_store_and_forward 57.84 chain 87.18 scatter_allgather 135.5
broadcast rc 8 1 131072 binomial 114 chain 122.9 binomial_store_and_forward 129.7 flat 147.5 scatter_allgather 259.7
broadcast rc 8 1 1048576 binomial_store_and_forward 1016 chain 1047 flat 1257 scatter_allgather 1426 binomial 1459
broadcast rc 16 1 8 flat 65.9 binomial 126.1 binomial_store_and_forward 128.9 chain 192.6 scatter_allgather 236.3
broadcast rc 16 1 256 flat 74.75 binomial 117 binomial_store_and_forward 127.9 chain 240.9 scatter_allgather 1051
broadcast rc 16 1 2048 flat 3543 binomial_store_and_forward 3592 binomial 3640 chain 3659 scatter_allgather 6423
broadcast rc 16 1 8192 flat 140.4 binomial 440.3 chain 3585 binomial_store_and_forward 3612 scatter_allgather 7196
broadcast rc 16 1 32768 binomial_store_and_forward 2548 binomial 3387 chain 3393 flat 3561 scatter_allgather 6810
broadcast rc 16 1 131072 binomial 600.3 flat 706.7 binomial_store_and_forward 1015 chain 3459 scatter_allgather 7298
broadcast rc 16 1 1048576 binomial_store_and_forward 2615 flat 2994 binomial 3972 chain 4690 scatter_allgather 3.118e+04
gather rc 2 0 8 flat 0.1606 binomial 0.1983
gather rc 2 0 256 flat 0.2059 binomial 0.2384
gather rc 2 0 2048 flat 0.3103 binomial 0.3619
gather rc 2 0 8192 flat 0.8681 binomial 0.9272
gather rc 2 0 32768 flat 2.87 binomial 2.914
gather rc 2 0 131072 flat 9.186 binomial 9.377
gather rc 2 0 1048576 flat 125.1 binomial 126.1
gather rc 4 1 8 flat 6.424 binomial 8.198
gather rc 4 1 256 flat 7.203 binomial 8.355
gather rc 4 1 2048 flat 7.576 binomial 9.152
gather rc 4 1 8192 flat 8.814 binomial 11.03
gather rc 4 1 32768 flat 12.73 binomial 19.18
gather rc 4 1 131072 flat 32.19 binomial 65.64
gather rc 4 1 1048576 flat 401.2 binomial 414.1
gather rc 8 1 8 flat 62.74 binomial 96.13
gather rc 8 1 256 flat 46.98 binomial 72.8
gather rc 8 1 2048 flat 56.59 binomial 88.34
gather rc 8 1 8192 flat 70.55 binomial 108
gather rc 8 1 32768 flat 87.63 binomial 122.3
gather rc 8 1 131072 flat 112.5 binomial 330.4
gather rc 8 1 1048576 flat 1370 binomial 2539
gather rc 16 1 8 flat 44.72 binomial 74.9
gather rc 16 1 256 flat 51.82 binomial 81.24
gather rc 16 1 2048 flat 50.4 binomial 83.78
gather rc 16 1 8192 flat 67.2 binomial 110
gather rc 16 1 32768 flat 111 binomial 142.3
gather rc 16 1 131072 flat 161.7 binomial 376.5
gather rc 16 1 1048576 flat 2118 binomial 3031
reduce rc 2 0 8 reproducible 0.2341 degree_k<3> 0.2384 degree_k<7> 0.2388 degree_k<1> 0.2394 degree_k<15> 0.2408
reduce rc 2 0 256 reproducible 0.2663 degree_k<3> 0.2727 degree_k<1> 0.2731 degree_k<7> 0.2766 degree_k<15> 0.277
reduce rc 2 0 2048 reproducible 0.3663 degree_k<15> 0.3815 degree_k<1> 0.3846 degree_k<3> 0.3852 degree_k<7> 0.3871
reduce rc 2 0 8192 reproducible 0.8341 degree_k<7> 0.8476 degree_k<1> 0.8479 degree_k<3> 0.8488 degree_k<15> 0.8528
reduce rc 2 0 32768 degree_k<15> 2.876 degree_k<7> 2.884 degree_k<3> 2.887 degree_k<1> 2.895 reproducible 2.913
reduce rc 2 0 131072 degree_k<15> 13.93 degree_k<3> 13.93 degree_k<1> 13.97 degree_k<7> 14 reproducible 14.13
reduce rc 2 0 1048576 degree_k<3> 121.8 degree_k<15> 122.5 degree_k<1> 122.7 degree_k<7> 122.7 reproducible 125
reduce rc 4 1 8 degree_k<15> 7.284 reproducible 7.347 degree_k<7> 7.409 degree_k<3> 7.477 degree_k<1> 8.718
reduce rc 4 1 256 degree_k<7> 7.44 reproducible 7.45 degree_k<15> 7.46 degree_k<3> 7.461 degree_k<1> 7.762
reduce rc 4 1 2048 degree_k<7> 7.949 degree_k<3> 7.964 reproducible 7.965 degree_k<15> 8.098 degree_k<1> 8.305
reduce rc 4 1 8192 reproducible 12.63 degree_k<3> 12.67 degree_k<7> 12.7 degree_k<15> 12.82 degree_k<1> 12.92
reduce rc 4 1 32768 degree_k<1> 24.01 reproducible 26.51 degree_k<7> 26.84 degree_k<3> 26.95 degree_k<15> 27.1
reduce rc 4 1 131072 degree_k<1> 69.26 degree_k<15> 72.86 reproducible 74.26 degree_k<3> 74.76 degree_k<7> 81.81
reduce rc 4 1 1048576 degree_k<1> 462.2 degree_k<3> 542.4 reproducible 552 degree_k<7> 568.4 degree_k<15> 570.4
reduce rc 8 1 8 degree_k<15> 24.06 reproducible 24.26 degree_k<7> 24.5 degree_k<3> 31.26 degree_k<1> 37.84
reduce rc 8 1 256 degree_k<15> 23.2 reproducible 23.51 degree_k<7> 23.89 degree_k<3> 33.8 degree_k<1> 38.86
reduce rc 8 1 2048 reproducible 25.37 degree_k<7> 25.87 degree_k<15> 25.97 degree_k<3> 36.21 degree_k<1> 42
reduce rc 8 1 8192 reproducible 35.39 degree_k<7> 35.84 degree_k<15> 36.24 degree_k<3> 44.12 degree_k<1> 51.52
reduce rc 8 1 32768 degree_k<15> 59.32 reproducible 59.88 degree_k<7> 60.87 degree_k<3> 70.11 degree_k<1> 74.05
reduce rc 8 1 131072 degree_k<15> 79.97 degree_k<1> 152.5 reproducible 157.6 degree_k<7> 161.7 degree_k<3> 171.5
reduce rc 8 1 1048576 degree_k<1> 1423 degree_k<15> 1448 degree_k<7> 1451 reproducible 1476 degree_k<3> 1524
reduce rc 16 1 8 degree_k<3> 3470 degree_k<15> 3545 reproducible 3552 degree_k<7> 3555 degree_k<1> 3667
reduce rc 16 1 256 degree_k<7> 3346 degree_k<3> 3426 reproducible 3528 degree_k<15> 3532 degree_k<1> 3614
reduce rc 16 1 2048 reproducible 32.1 degree_k<15> 33.49 degree_k<7> 44.52 degree_k<3> 47.1 degree_k<1> 49.21
reduce rc 16 1 8192 reproducible 44.96 degree_k<15> 50.07 degree_k<7> 52.93 degree_k<3> 61.26 degree_k<1> 79.05
reduce rc 16 1 32768 reproducible 84.72 degree_k<15> 86.31 degree_k<7> 94.07 degree_k<3> 97.05 degree_k<1> 117.1
reduce rc 16 1 131072 degree_k<3> 230.6 degree_k<15> 261.3 degree_k<7> 265.5 reproducible 270.4 degree_k<1> 279.6
reduce rc 16 1 1048576 degree_k<7> 1544 degree_k<3> 1617 degree_k<1> 1706 degree_k<15> 1752 reproducible 1786
reduce_scatter rc 2 0 8 direct 0.2204 recursive_halving 0.2515
reduce_scatter rc 2 0 256 direct 0.2891 recursive_halving 0.3249
reduce_scatter rc 2 0 2048 direct 0.4527 recursive_halving 0.5694
reduce_scatter rc 2 0 8192 direct 1.14 recursive_halving 1.46
reduce_scatter rc 2 0 32768 direct 4.409 recursive_halving 5.821
reduce_scatter rc 2 0 131072 direct 17.96 recursive_halving 26.36
reduce_scatter rc 2 0 1048576 direct 156.1 recursive_halving 223.7
reduce_scatter rc 4 1 8 direct 4.787 recursive_halving 6.878
reduce_scatter rc 4 1 256 direct 5.788 recursive_halving 7.807
reduce_scatter rc 4 1 2048 direct 6.809 recursive_halving 9.434
reduce_scatter rc 4 1 8192 direct 11.06 recursive_halving 19.26
reduce_scatter rc 4 1 32768 direct 42.34 recursive_halving 74.98
reduce_scatter rc 4 1 131072 direct 184.4 recursive_halving 276.3
reduce_scatter rc 4 1 1048576 direct 2224 recursive_halving 3801
reduce_scatter rc 8 1 8 direct 60.47 recursive_halving 91.36
reduce_scatter rc 8 1 256 direct 69.55 recursive_halving 99.83
reduce_scatter rc 8 1 2048 direct 92.61 recursive_halving 123.9
reduce_scatter rc 8 1 8192 direct 128.7 recursive_halving 252.6
reduce_scatter rc 8 1 32768 direct 495.7 recursive_halving 869.5
reduce_scatter rc 8 1 131072 direct 2804 recursive_halving 4706
reduce_scatter rc 8 1 1048576 direct 2.304e+04 recursive_halving 3.627e+04
reduce_scatter rc 16 1 8 recursive_halving 93.39 direct 112.2
reduce_scatter rc 16 1 256 recursive_halving 115.2 direct 139.9
reduce_scatter rc 16 1 2048 direct 130.1 recursive_halving 171.6
reduce_scatter rc 16 1 8192 direct 247.4 recursive_halving 512.1
reduce_scatter rc 16 1 32768 direct 1547 recursive_halving 2475
reduce_scatter rc 16 1 131072 direct 5984 recursive_halving 1.033e+04
reduce_scatter rc 16 1 1048576 direct 5.013e+04 recursive_halving 8.001e+04
scan rc 2 0 8 chain 0.113 recursive_doubling 0.1663
scan rc 2 0 256 chain 0.1368 recursive_doubling 0.2011
scan rc 2 0 2048 chain 0.2017 recursive_doubling 0.3686
scan rc 2 0 8192 chain 0.4457 recursive_doubling 0.953
scan rc 2 0 32768 chain 1.885 recursive_doubling 4.414
scan rc 2 0 131072 chain 7.413 recursive_doubling 29.91
scan rc 2 0 1048576 chain 67.06 recursive_doubling 178.8
scan rc 4 1 8 chain 0.6753 recursive_doubling 1.353
scan rc 4 1 256 chain 0.8461 recursive_doubling 1.688
scan rc 4 1 2048 chain 1.11 recursive_doubling 2.798
scan rc 4 1 8192 chain 1.911 recursive_doubling 6.258
scan rc 4 1 32768 chain 7.442 recursive_doubling 21.96
scan rc 4 1 131072 chain 25.77 recursive_doubling 101.2
scan rc 4 1 1048576 chain 456.9 recursive_doubling 1279
scan rc 8 1 8 chain 3.532 recursive_doubling 13.46
scan rc 8 1 256 chain 3.449 recursive_doubling 11.74
scan rc 8 1 2048 chain 4.99 recursive_doubling 20.7
scan rc 8 1 8192 chain 8.039 recursive_doubling 33.9
scan rc 8 1 32768 chain 30.44 recursive_doubling 127.5
scan rc 8 1 131072 chain 139.9 recursive_doubling 625.6
scan rc 8 1 1048576 chain 1062 recursive_doubling 6100
scan rc 16 1 8 chain 5.476 recursive_doubling 18.17
scan rc 16 1 256 chain 5.464 recursive_doubling 20.47
scan rc 16 1 2048 chain 9.083 recursive_doubling 29.8
scan rc 16 1 8192 chain 16.11 recursive_doubling 75.13
scan rc 16 1 32768 chain 57.86 recursive_doubling 274.1
scan rc 16 1 131072 chain 212.6 recursive_doubling 1624
scan rc 16 1 1048576 chain 2819 recursive_doubling 1.203e+04
scatter rc 2 0 8 flat 0.177 binomial 0.2168
scatter rc 2 0 256 flat 0.2256 binomial 0.262
scatter rc 2 0 2048 flat 0.3337 binomial 0.3762
scatter rc 2 0 8192 flat 0.7665 binomial 0.8112
scatter rc 2 0 32768 flat 2.97 binomial 3.015
scatter rc 2 0 131072 flat 11.91 binomial 12.22
scatter rc 2 0 1048576 flat 128 binomial 128.2
scatter rc 4 1 8 flat 7.459 binomial 9.43
scatter rc 4 1 256 flat 7.732 binomial 9.71
scatter rc 4 1 2048 flat 7.924 binomial 10.23
scatter rc 4 1 8192 flat 9.453 binomial 11.87
scatter rc 4 1 32768 flat 16.07 binomial 19.42
scatter rc 4 1 131072 flat 51.83 binomial 85.79
scatter rc 4 1 1048576 flat 541.9 binomial 709.2
scatter rc 8 1 8 flat 57.59 binomial 85.85
scatter rc 8 1 256 flat 52.58 binomial 78.88
scatter rc 8 1 2048 flat 61.71 binomial 92.59
scatter rc 8 1 8192 flat 72.49 binomial 116.5
scatter rc 8 1 32768 flat 75.27 binomial 153.1
scatter rc 8 1 131072 flat 145.6 binomial 312
scatter rc 8 1 1048576 flat 1706 binomial 3211
scatter rc 16 1 8 flat 56.88 binomial 99.31
scatter rc 16 1 256 flat 59.59 binomial 100.7
scatter rc 16 1 2048 flat 63.35 binomial 114.2
scatter rc 16 1 8192 flat 58.51 binomial 106
scatter rc 16 1 32768 flat 106.2 binomial 260.7
scatter rc 16 1 131072 flat 255.9 binomial 783.3
scatter rc 16 1 1048576 flat 2571 binomial 5957
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
