/** What the header of a request can hold, for every client in the same bytes. */
export const presentableKey = /^[\x21-\x7e]+$/;

/** Characters of a server's key, at least: whoever can ask can guess, and a short key is found by trying. */
export const apiKeyCharsMin = 8;
