import type { Piece, PieceRecord, ViewStyle } from './piece-record.ts';

/** What a thread is started with. */
export interface PieceSetup {
  readonly programPaths: readonly string[];
  /** Digest of the program's sources: a thread that finds others does nothing. */
  readonly program: string;
  readonly eventsPath: string;
  readonly strict: boolean;
  readonly style: ViewStyle;
}

export type ToPieceThread = Piece;

export type FromPieceThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'record'; readonly record: PieceRecord }
  /** It cannot go on: whoever runs the piece itself learns why. */
  | { readonly kind: 'lost' };
