// The built-in figures: how they rest, what they are pulled by, and how thick they are.
//
// rest: degrees by joint. goals: joint, point on it, kind (0 position, 1 orientation, 2 both), pinned.
// flesh: the first row whose pattern a joint's name matches gives the radii at both ends of its
// bones, a widening across (x, z), and where a last bone ends.

const hands = (x) => [`${x}_hand`, [0, -0.08, 0], 0];
const feet = (x) => [`${x}_foot`, [0, -0.02, 0.03], 2, true];

export const figures = [
  {
    id: 'humanoid', name: 'Humanoid', which: 0, view: [0.62, 0.42, 1.9], look: [0, 0.02, 0],
    rest: {
      left_upper_arm: [-58, 6, 0], right_upper_arm: [58, -6, 0], left_forearm: [-22], right_forearm: [-22],
      left_fingers: [-18], right_fingers: [-18], left_thigh: [4, 6, -5], right_thigh: [-4, -6, -5], left_shin: [8],
      right_shin: [8], left_foot: [-4, -3], right_foot: [4, -3],
    },
    goals: [hands('left'), hands('right'), ['head', [0, 0.12, 0.02], 0, false, 0.1], feet('left'), feet('right')],
    flesh: [
      [/^(pelvis|root)/, { r: [0.085, 0.078], wide: [1.12, 0.95] }],
            [/thigh/, { r: [0.08, 0.053] }],
      [/shin/, { r: [0.053, 0.035] }],
      [/foot/, { r: [0.037, 0.032], wide: [1.15, 1] }],
      [/toes/, { r: [0.031, 0.024], wide: [1.3, 1], tip: [0, 0, 0.05] }],
      [/spine_low/, { r: [0.086, 0.092], wide: [1.25, 0.9] }],
      [/spine_mid/, { r: [0.092, 0.112], wide: [1.3, 0.88] }],
      [/chest/, { r: [0.112, 0.045], wide: [1.32, 0.86] }],
      [/clavicle/, { r: [0.056, 0.054] }],
      [/neck/, { r: [0.05, 0.048] }],
      [/head/, { r: [0.062, 0.088], wide: [0.9, 1.08], tip: [0, 0.105, 0.02] }],
      [/upper_arm/, { r: [0.048, 0.037] }],
      [/forearm/, { r: [0.038, 0.027] }],
      [/wrist/, { r: [0.027, 0.027] }],
      [/thumb/, { r: [0.014, 0.011], tip: [0, -0.045, 0.022] }],
      [/hand/, { r: [0.026, 0.03], wide: [0.7, 1.2] }],
      [/fingers/, { r: [0.027, 0.014], wide: [0.6, 1.25], tip: [0, -0.075, 0] }],
    ],
  },
  {
    id: 'hand', name: 'Hand', which: 1, view: [-0.35, 0.2, 1.5], look: [0, 0, 0],
    rest: {
      palm: [0, -8], index_1: [6, 14], index_2: [22], index_3: [12], middle_1: [1, 16], middle_2: [24], middle_3: [14],
      ring_1: [-4, 18], ring_2: [26], ring_3: [16], little_1: [-9, 20], little_2: [26], little_3: [16],
      thumb_1: [6, 8], thumb_2: [14], thumb_3: [16],
    },
    goals: [
      ['thumb_3', [0, 0.028, 0], 0], ['index_3', [0, 0.022, 0], 0], ['middle_3', [0, 0.023, 0], 0],
      ['ring_3', [0, 0.023, 0], 0], ['little_3', [0, 0.02, 0], 0],
    ],
    flesh: [
      [/forearm/, { r: [0.028, 0.024], wide: [1.25, 0.9] }],
      [/palm/, { r: [0.019, 0.0125], wide: [1, 0.85] }],
      [/thumb_1/, { r: [0.016, 0.0115] }],
      [/thumb_2/, { r: [0.0115, 0.0105] }],
      [/thumb_3/, { r: [0.0105, 0.008] }],
      [/little_1/, { r: [0.0095, 0.008] }],
      [/little_2/, { r: [0.008, 0.0072] }],
      [/little_3/, { r: [0.0072, 0.006] }],
      [/_1$/, { r: [0.0115, 0.0095] }],
      [/_2$/, { r: [0.0095, 0.0085] }],
      [/_3$/, { r: [0.0085, 0.0068] }],
    ],
  },
  {
    id: 'arm', name: 'Arm of 7 axes', which: 2, view: [0.9, 0.35, 1.9], look: [0, 0, 0], ground: 0,
    rest: { axis_1: [20], axis_2: [-32], axis_3: [0], axis_4: [78], axis_5: [10], axis_6: [-50], axis_7: [0] },
    goals: [['axis_7', [0, 0.1, 0], 2]],
    flesh: [
      [/base/, { r: [0.085, 0.07] }],
      [/axis_[1-2]/, { r: [0.068, 0.062] }],
      [/axis_[3-4]/, { r: [0.06, 0.054] }],
      [/axis_[5]/, { r: [0.052, 0.048] }],
      [/axis_6/, { r: [0.046, 0.04] }],
      [/axis_7/, { r: [0.036, 0.012] }],
    ],
  },
  {
    id: 'spider', name: 'Spider', which: 3, view: [0.7, 0.75, 1.7], look: [0, 0, 0],
    rest: Object.fromEntries(['left', 'right'].flatMap((side) => [1, 2, 3, 4].flatMap((n) => [
      [`${side}_${n}_femur`, [50]], [`${side}_${n}_tibia`, [-88]], [`${side}_${n}_tarsus`, [-16]]]))),
    goals: [['body', [0, 0, 0], 2],
      ...['left', 'right'].flatMap((side) => [1, 2, 3, 4].map((n) => [`${side}_${n}_tarsus`, [0.11, 0, 0], 0, true]))],
    flesh: [
      [/body/, { r: [0.045, 0.02] }],
      [/abdomen/, { r: [0.045, 0.062], wide: [1.05, 0.95], tip: [0, 0.02, -0.1] }],
      [/coxa/, { r: [0.018, 0.014] }],
      [/femur/, { r: [0.016, 0.012] }],
      [/tibia/, { r: [0.012, 0.008] }],
      [/tarsus/, { r: [0.008, 0.003] }],
    ],
  },
  {
    id: 'chain', name: 'Chain of 100 joints', which: 4, view: [0.5, 0.25, 1.7], look: [0, 0, 0], ground: 0,
    rest: Object.fromEntries(Array.from({ length: 100 }, (_, i) =>
      [`link_${i + 1}`, [4.2 * Math.sin(i / 16 - 0.9), 1.4 * Math.cos(i / 11)]])),
    goals: [['link_100', [0, 0.02, 0], 0], ['link_55', [0, 0, 0], 0, false, 0.1]],
    flesh: [[/foot/, { r: [0.05, 0.036] }], [/link/, { taper: [0.034, 0.014] }]],
  },
];

export const figureById = (id) => figures.find((figure) => figure.id === id);

/** How thick the bones of a joint are; null where the figure does not say. */
export function fleshOf(figure, name, index, count) {
  const row = figure?.flesh?.find(([pattern]) => pattern.test(name));
  if (!row) return null;
  const { taper } = row[1];
  if (!taper) return row[1];
  const at = (i) => taper[0] + (taper[1] - taper[0]) * (i / count);
  return { r: [at(index), at(index + 1)] };
}
