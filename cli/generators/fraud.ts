import { type GeneratedEvent, type Generator, generated } from './generator.ts';
import type { Random } from './random.ts';
import { tell } from './stories.ts';

const COUNTRIES = ['AT', 'BE', 'CH', 'DE', 'ES', 'FR', 'IT', 'NL', 'PL', 'SE'] as const;
const MERCHANTS = ['Bakery', 'Bookshop', 'Cinema', 'Garage', 'Grocer', 'Kiosk', 'Pharmacy', 'Railway', 'Tailor'] as const;
const EXPENSIVE = ['Airline', 'Electronics', 'Jeweller'] as const;

const declarations = `event Login:
    account: str
    country: str
    ok: bool

event Payment:
    account: str
    card: str
    merchant: str
    country: str
    amount: float
    approved: bool
`;

const rules = `# Three or more failed logins of an account, then one that succeeds.
stream Takeover = Login where not ok -> Login{2,} where not ok as more -> Login where ok as entry
    .partition_by(account)
    .within(10m)
    .after_match(skip_past_last)
    .emit(account: entry.account, failures: count(more) + 1, from_country: entry.country)

# Small declined payments with one card, then a large approved one.
stream CardTesting = Payment where amount < 5.0 and not approved
    -> Payment{2,} where amount < 5.0 and not approved as probes
    -> Payment where amount > 500.0 and approved as purchase
    .partition_by(card)
    .within(10m)
    .after_match(skip_past_last)
    .emit(
        card: purchase.card,
        probes: count(probes) + 1,
        merchant: purchase.merchant,
        amount: purchase.amount
    )
`;

/** Logins and card payments of a few hundred customers; accounts are taken over, and stolen cards are tested. */
export const fraud: Generator = {
  name: 'fraud',
  summary: 'logins and card payments, with accounts that are taken over and stolen cards that are tested',
  declarations,
  rules,
  open: (random) => tell({ random, ordinary: () => ordinary(random), stories: [() => takeover(random), () => cardTesting(random)] }),
};

function ordinary(random: Random): GeneratedEvent {
  const account = `c-${random.whole(1, 400)}`;
  const country = COUNTRIES[Number(account.slice(2)) % COUNTRIES.length] ?? 'DE';
  if (random.chance(0.3)) return generated('Login', { account, country, ok: !random.chance(0.03) });
  const amount = random.chance(0.05) ? random.amount(100, 900) : random.amount(1, 100);
  const approved = amount < 5 || !random.chance(0.02);
  return generated('Payment', { account, card: `card-${account.slice(2)}`, merchant: random.pick(MERCHANTS), country, amount, approved });
}

/** Accounts and cards of stories are apart from those of ordinary customers, so that what is found can be counted. */
function takeover(random: Random): readonly GeneratedEvent[] {
  const [account, country] = [`t-${random.whole(1, 999_999)}`, random.pick(COUNTRIES)];
  const failures = Array.from({ length: random.whole(3, 6) }, () => generated('Login', { account, country, ok: false }));
  return [...failures, generated('Login', { account, country, ok: true })];
}

function cardTesting(random: Random): readonly GeneratedEvent[] {
  const [number, country] = [random.whole(1, 999_999), random.pick(COUNTRIES)];
  const payment = (merchant: string, amount: number, approved: boolean): GeneratedEvent =>
    generated('Payment', { account: `s-${number}`, card: `stolen-${number}`, merchant, country, amount, approved });
  const probes = Array.from({ length: random.whole(3, 5) }, () => payment(random.pick(MERCHANTS), random.amount(0.5, 4.5), false));
  return [...probes, payment(random.pick(EXPENSIVE), random.amount(501, 2_500), true)];
}
