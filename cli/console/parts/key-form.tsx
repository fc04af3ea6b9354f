import { useState } from 'preact/hooks';
import { link, unlock } from '../service/link.ts';
import { keepKey } from '../service/session.ts';
import { useStore } from '../service/use-store.ts';
import { Notice } from './notice.tsx';
import { Page } from './page.tsx';

/** Asks for the key, once for as long as the tab is open. */
export function KeyForm() {
  const [key, setKey] = useState('');
  const state = useStore(link);
  const open = (event: Event): void => {
    event.preventDefault();
    if (key.trim() === '') return;
    keepKey(key.trim());
    unlock();
  };
  return (
    <Page title="Key">
      <form class="key-form" onSubmit={open}>
        {state.state === 'locked' && state.isWrong && (
          <Notice tone="bad">Nobody has this key. Look whether it is the key of this server.</Notice>
        )}
        <label for="key">API key</label>
        <input
          id="key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          autofocus
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        <button type="submit" class="primary">
          Open
        </button>
        <p class="quiet">
          The key of the server sees everything; the key of a tenant sees what the tenant has. It is kept in this tab until it is closed,
          and is part of no address.
        </p>
      </form>
    </Page>
  );
}
