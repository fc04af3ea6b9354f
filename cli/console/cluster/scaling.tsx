import { Facts } from '../parts/facts.tsx';
import { countText, plural } from '../parts/text.ts';
import type { Scaling } from '../service/shapes.ts';

export function scalingText({ action, target_workers: target }: Scaling): string {
  return action === 'stable' ? 'as it is' : `${action === 'scale_up' ? 'up' : 'down'} to ${countText(target)}`;
}

/** Whether more workers are recommended, or fewer, and why. */
export function ScalingFacts({ scaling }: { readonly scaling: Scaling }) {
  const { action, reason, load, total_pipelines: pipelines, current_workers: current } = scaling;
  return (
    <Facts
      facts={[
        { name: 'Recommended', value: scalingText(scaling), note: reason, tone: action === 'stable' ? undefined : 'warn' },
        { name: 'Ready now', value: countText(current), note: plural(pipelines, 'pipeline') },
        { name: 'Load', value: load.toFixed(1), note: 'pipelines a worker' },
      ]}
    />
  );
}
