import { describe, expect, it } from 'vitest';
import { type Config, resolveConfig } from '../../../shared/config/config.ts';
import { generateConfig } from '../../../shared/config/generate.ts';
import { configKeys } from '../../../shared/config/keys.ts';
import { type ConfigFormat, configFormats, parseConfig } from '../../../shared/config/parse.ts';

function configOf(format: ConfigFormat, text: string): Config {
  return resolveConfig({ file: parseConfig({ file: `cep.${format}`, text, format }) });
}

describe.each(configFormats)('a generated %s file', (format) => {
  const text = generateConfig(format);

  it('loads back to the defaults without a warning', () => {
    const config = configOf(format, text);
    const defaults = resolveConfig({});
    expect(config.settings.map(({ key, value }) => [key.name, value])).toEqual(
      defaults.settings.map(({ key, value }) => [key.name, value]),
    );
    expect(config.warnings).toEqual([]);
    expect(config.settings.filter(({ origin }) => origin === 'file').length).toBeGreaterThan(5);
  });

  it('is still right when every key that stands as a comment is set', () => {
    const uncommented = uncomment(uncomment(text));
    const config = configOf(format, uncommented);
    const fromFile = config.settings.filter(({ origin }) => origin === 'file').map(({ key }) => key.name);
    expect(fromFile).toEqual(configKeys.filter((key) => !('inFile' in key)).map((key) => key.name));
  });
});

/** Takes one `# ` off every line that is a section or a key behind it. */
function uncomment(text: string): string {
  return text.replaceAll(/^( *)# ( *)(?=(# )?(\[\w+\]|\w+( =|:)( |$)))/gm, '$1$2');
}

describe('the generated files', () => {
  it('explain every key', () => {
    expect(generateConfig('yaml')).toMatchInlineSnapshot(`
      "# Configuration of cep. Flags and environment variables win over this file.
      # Values are the defaults; what stands as a comment is not set.

      processing:
        # Engine threads: of a partitioned program, or for the pipelines of a server. Not set: number of CPU cores.
        # workers: 4
        # Event field by which events are divided among the threads. Not set: chosen from the program.
        # partition_by: "user_id"
        # Accepted, and of no effect: how many events an engine thread is handed at once follows from their size.
        batch_size: 1000
        # Treat an event that lacks a declared field as invalid.
        strict_events: false

      # section 'mqtt' is deprecated and has no effect; declare a connector in the program and read from it with .from()
      # mqtt:
      #   # Deprecated, as the whole section: of no effect. Host of the MQTT broker. Not set: no broker.
      #   # broker: "localhost"
      #   # Deprecated. Port of the MQTT broker.
      #   port: 1883
      #   # Deprecated. Topic that events were read from; \`#\` stands for everything below. Not set: no input.
      #   # input_topic: "sensors/#"
      #   # Deprecated. Topic that output events were written to. Not set: no output.
      #   # output_topic: "alerts"
      #   # Deprecated. Name of this client at the broker. Not set: made by the client.
      #   # client_id: "cep-1"
      #   # Deprecated. MQTT quality of service.
      #   qos: 1
      #   # Deprecated. Connect to the broker with TLS.
      #   tls: false

      server:
        # Port of the server; 0 takes any free one.
        port: 9000
        # Address the server listens on.
        bind: "127.0.0.1"
        # File that holds the key which requests must carry; relative to the configuration file that names it. Not set: authentication is off.
        # api_key_file: "/etc/cep/api-key"
        # Names that requests may ask for the server by (\`Host\`), with commas between them; localhost and its own address always pass. Not set: any with a key, else this machine.
        # allowed_hosts: "cep.example.org"

      client:
        # URL of the server that client commands talk to.
        server: "http://127.0.0.1:9000"
        # URL of the coordinator that commands about the cluster talk to; any member of its group.
        coordinator: "http://127.0.0.1:9100"
        # File that holds the key which client commands send; relative to the configuration file that names it. Not set: no key is sent.
        # api_key_file: "api-key"
        # PEM file of the authority that signed the certificates of those that are asked: by client commands the server, by a worker coordinators and other workers, by a coordinator workers. Relative to the configuration file that names it. Not set: the authorities that this machine trusts.
        # tls_ca: "ca.pem"
        # How long a client command waits for an answer, seconds or a duration.
        timeout: "30s"

      metrics:
        # Serve metrics in the Prometheus format.
        enabled: false
        # Port of the metrics endpoint.
        port: 9090

      logging:
        # Least severity that is logged. One of trace, debug, info, warn, error.
        level: "info"
        # Lines for people, or one JSON object per line. One of text, json.
        format: "text"
        # Begin every log line with its time.
        timestamps: true
      "
    `);
    expect(generateConfig('toml').slice(0, 700)).toMatchInlineSnapshot(`
      "# Configuration of cep. Flags and environment variables win over this file.
      # Values are the defaults; what stands as a comment is not set.

      [processing]
      # Engine threads: of a partitioned program, or for the pipelines of a server. Not set: number of CPU cores.
      # workers = 4
      # Event field by which events are divided among the threads. Not set: chosen from the program.
      # partition_by = "user_id"
      # Accepted, and of no effect: how many events an engine thread is handed at once follows from their size.
      batch_size = 1000
      # Treat an event that lacks a declared field as invalid.
      strict_events = false

      # section 'mqtt' is deprecated and has no effect; declare a connector in the program and read from"
    `);
  });
});
