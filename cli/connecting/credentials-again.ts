import type { CredentialsFile } from '../../shared/security/credentials/credentials.ts';
import type { Redactor } from '../../shared/security/redaction.ts';
import type { Telemetry } from '../../shared/telemetry/internal-events.ts';

/** Reads a credentials file again, and says how that went. What connectors have open stays open. */
export async function readAgain(
  credentials: CredentialsFile,
  { telemetry, redactor }: { readonly telemetry: Telemetry; readonly redactor: Redactor },
): Promise<void> {
  try {
    await credentials.readAgain();
    for (const secret of credentials.secrets) redactor.add(secret);
    telemetry.report('CredentialsReloaded', { profiles: credentials.profiles.size });
  } catch (error) {
    telemetry.report('CredentialsNotReloaded', { error: error instanceof Error ? error.message : String(error) });
  }
}
