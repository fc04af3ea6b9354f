import { useEffect, useState } from 'preact/hooks';
import type { Store } from './store.ts';

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(store.value);
  useEffect(() => {
    setValue(store.value);
    return store.listen((next) => setValue(() => next));
  }, [store]);
  return value;
}
