/** What a browser has, for modules that read it when they are loaded: import this before them. */
declare global {
  var sessionStorage: {
    getItem(name: string): string | null;
    setItem(name: string, value: string): void;
    removeItem(name: string): void;
  };
}

const kept = new Map<string, string>();

globalThis.sessionStorage = {
  getItem: (name) => kept.get(name) ?? null,
  setItem: (name, value) => void kept.set(name, value),
  removeItem: (name) => void kept.delete(name),
};
