import Type from 'typebox';
import { changed, command, refused } from './outcome.ts';

const count = Type.Integer({ minimum: 0, maximum: 1_000_000 });
const threshold = Type.Number({ minimum: 0, maximum: 1_000_000 });

export const scalingCommands = {
  SetScalingPolicy: command(
    Type.Object(
      { workersMin: count, workersMax: count, upThreshold: threshold, downThreshold: threshold },
      { additionalProperties: false },
    ),
    (state, scaling) => {
      const { workersMin, workersMax, upThreshold, downThreshold } = scaling;
      if (workersMin > workersMax)
        return refused('validation_error', `the least number of workers, ${workersMin}, is above the most, ${workersMax}`);
      if (downThreshold >= upThreshold) {
        return refused(
          'validation_error',
          `the threshold of scaling down, ${downThreshold}, is not below that of scaling up, ${upThreshold}`,
        );
      }
      return changed({ ...state, scaling }, { ...scaling }, { type: 'ScalingPolicySet', id: 'scaling' });
    },
  ),
};
