// SPDX-License-Identifier: MIT
// The polynomials of sine and cosine, over doubles, vectors of them, or a device's numbers: C and OpenCL C at once.
// (sin y - y)/y^3 and (cos y - 1 + y^2/2)/y^4 in z = y^2, interpolated at Chebyshev nodes of [0, (pi/4)^2], within
// 2^-55 and 2^-60.
#ifndef SN_SINE_SERIES
#define SN_SINE_SERIES(z)                                                                          \
    (-0x1.5555555555555p-3 +                                                                       \
     (z) * (0x1.1111111110babp-7 +                                                                 \
            (z) * (-0x1.a01a019e820aep-13 +                                                        \
                   (z) * (0x1.71de37946ed6dp-19 +                                                  \
                          (z) * (-0x1.ae6008d114485p-26 + (z) * 0x1.5e0a4fc16be59p-33)))))
#define SN_COSINE_SERIES(z)                                                                        \
    (0x1.5555555555555p-5 +                                                                        \
     (z) * (-0x1.6c16c16c16963p-10 +                                                               \
            (z) * (0x1.a01a019f4ddfdp-16 +                                                         \
                   (z) * (-0x1.27e4fa16cc2d1p-22 +                                                 \
                          (z) * (0x1.1eeb67d026ec6p-29 + (z) * -0x1.907cd8ff5ede7p-37)))))
#endif
