import { useRef, useState } from 'preact/hooks';
import { href } from '../service/href.ts';
import type { Place } from '../service/location.ts';
import { apiKey, forgetKey } from '../service/session.ts';

export interface MenuEntry {
  readonly label: string;
  readonly parts: readonly string[];
}

interface MenuProps {
  readonly entries: readonly MenuEntry[];
  readonly here: Place;
  readonly title: string;
  readonly version: string | undefined;
}

export function Menu({ entries, here, title, version }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const onKeyDown = ({ key }: KeyboardEvent): void => {
    if (key !== 'Escape' || !isOpen) return;
    setOpen(false);
    button.current?.focus();
  };
  const leave = (): void => {
    forgetKey();
    location.reload();
  };
  return (
    <nav class="menu" aria-label="Pages" onKeyDown={onKeyDown}>
      <div class="menu-head">
        <a class="brand" href="#/">
          {title}
        </a>
        <button
          ref={button}
          type="button"
          class="menu-button"
          aria-expanded={isOpen}
          aria-controls="menu-list"
          onClick={() => setOpen(!isOpen)}
        >
          Menu
        </button>
      </div>
      <div id="menu-list" class={isOpen ? 'menu-list open' : 'menu-list'}>
        <ul>
          {entries.map(({ label, parts }) => (
            <li key={label}>
              <a href={href(parts)} aria-current={isHere(parts, here) ? 'page' : undefined} onClick={() => setOpen(false)}>
                {label}
              </a>
            </li>
          ))}
        </ul>
        <p class="menu-foot">
          <a href="/docs">API</a>
          {version !== undefined && <span>version {version}</span>}
          {apiKey() !== null && (
            <button type="button" class="plain" onClick={leave}>
              Forget the key
            </button>
          )}
        </p>
      </div>
    </nav>
  );
}

function isHere(parts: readonly string[], here: Place): boolean {
  return parts[0] === here.parts[0];
}
