import { announcement } from '../service/announcement.ts';
import { useStore } from '../service/use-store.ts';

/** Heard by readers of screens as soon as it changes; it stands there from the beginning, or it would not be. */
export function LiveRegion() {
  const text = useStore(announcement);
  return (
    <div class="hidden" role="status" aria-label="What was done">
      {text}
    </div>
  );
}
