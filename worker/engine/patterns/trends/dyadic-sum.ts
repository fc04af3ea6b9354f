import { type Codec, count, record, wholeNumber } from '../../state/codec.ts';

/**
 * A sum of doubles, each taken any whole number of times, without rounding and without bounds: every double is a whole
 * number over a power of two, and so is the sum. Trends are exponential in number, so their sums outgrow doubles.
 */
export class DyadicSum {
  static readonly ZERO = new DyadicSum(0n, 0);
  readonly numerator: bigint;
  /** The sum is the numerator over 2 to this power. */
  readonly scale: number;

  constructor(numerator: bigint, scale: number) {
    this.numerator = numerator;
    this.scale = scale;
  }

  /** With `value`, a finite number, added `times` times. */
  plus(value: number, times: bigint): DyadicSum {
    const { mantissa, exponent } = decompose(value);
    const all = mantissa * times;
    return exponent >= 0 ? this.#plus(all << BigInt(exponent), 0) : this.#plus(all, -exponent);
  }

  add(other: DyadicSum): DyadicSum {
    return this.#plus(other.numerator, other.scale);
  }

  #plus(numerator: bigint, scale: number): DyadicSum {
    if (scale === this.scale) return new DyadicSum(this.numerator + numerator, scale);
    if (scale > this.scale) return new DyadicSum((this.numerator << BigInt(scale - this.scale)) + numerator, scale);
    return new DyadicSum(this.numerator + (numerator << BigInt(this.scale - scale)), this.scale);
  }

  /** The double next to the sum divided by `divisor` (> 0); infinite beyond the range of doubles. */
  over(divisor: bigint): number {
    return quotient(this.numerator, divisor << BigInt(this.scale));
  }
}

const members = record({ numerator: wholeNumber, scale: count });

export const savedSum: Codec<DyadicSum> = {
  save: members.save,
  load: (saved) => {
    const { numerator, scale } = members.load(saved);
    return new DyadicSum(numerator, scale);
  },
};

/** For looking at the bits of a double. */
const view = new DataView(new ArrayBuffer(8));

/** `value = mantissa * 2 ** exponent`, from the bits of the double. */
function decompose(value: number): { readonly mantissa: bigint; readonly exponent: number } {
  if (Number.isSafeInteger(value)) return { mantissa: BigInt(value), exponent: 0 };
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const mantissa = biased === 0 ? fraction : fraction | 0x10000000000000n;
  return { mantissa: value < 0 ? -mantissa : mantissa, exponent: Math.max(biased, 1) - 1075 };
}

/** More bits than a double has, so that cutting the rest off decides nothing but an exact tie, which the lowest bit settles. */
const QUOTIENT_BITS = 70;

function quotient(numerator: bigint, divisor: bigint): number {
  if (numerator === 0n) return 0;
  const size = numerator < 0n ? -numerator : numerator;
  const shift = QUOTIENT_BITS + bitLength(divisor) - bitLength(size);
  const scaled = shift >= 0 ? size << BigInt(shift) : size;
  const scaledDivisor = shift >= 0 ? divisor : divisor << BigInt(-shift);
  const whole = scaled / scaledDivisor;
  const isExact = whole * scaledDivisor === scaled;
  const rounded = scaleBy(Number(isExact ? whole : whole | 1n), -shift);
  return numerator < 0n ? -rounded : rounded;
}

function bitLength(value: bigint): number {
  return value.toString(16).length * 4;
}

/** `value * 2 ** exponent`, in steps that keep within the range of powers. */
function scaleBy(value: number, exponent: number): number {
  let scaled = value;
  let left = exponent;
  while (left !== 0 && scaled !== 0 && Number.isFinite(scaled)) {
    const step = Math.max(-1000, Math.min(1000, left));
    scaled *= 2 ** step;
    left -= step;
  }
  return scaled;
}
