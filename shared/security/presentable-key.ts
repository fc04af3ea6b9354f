/** What the header of a request can hold, for every client in the same bytes. */
export const presentableKey = /^[\x21-\x7e]+$/;
