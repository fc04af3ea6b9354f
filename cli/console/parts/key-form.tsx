import { useState } from 'preact/hooks';
import { presentableKey } from '../../../shared/security/presentable-key.ts';
import { link, unlock } from '../service/link.ts';
import { keepKey } from '../service/session.ts';
import { useStore } from '../service/use-store.ts';
import { Notice } from './notice.tsx';
import { Page } from './page.tsx';

/** Asks for the key, once for as long as the tab is open. */
export function KeyForm() {
  const [key, setKey] = useState('');
  const [isOdd, setOdd] = useState(false);
  const state = useStore(link);
  const open = (event: Event): void => {
    event.preventDefault();
    const given = key.trim();
    if (given === '') return;
    const isPresentable = presentableKey.test(given);
    setOdd(!isPresentable);
    if (!isPresentable) return;
    keepKey(given);
    unlock();
  };
  return (
    <Page title="Key">
      <form class="key-form" onSubmit={open}>
        {isOdd && (
          <Notice tone="bad">
            This cannot be a key: it has blanks, or characters that are not ASCII. Some are not to be seen, and come along where a key is
            copied.
          </Notice>
        )}
        {!isOdd && state.state === 'locked' && state.isWrong && (
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
