import type { ConnectorDescriptor } from './descriptor.ts';

/** Messages of machines to whoever listens, and to people. */
export const messageConnectors: readonly ConnectorDescriptor[] = [
  {
    name: 'syslog',
    roles: ['source'],
    built: ['source'],
    oneOf: [],
    topics: ['topic'],
    broker: false,
    summary: 'Messages of syslog (RFC 5424 and 3164) that others send here',
    guarantees: {
      source:
        'At most once: the protocol has no answers, so what is sent while nobody listens is gone, and so is what came just before this ' +
        'process died. With `tcp` a sender that is too fast has to wait; with `udp` what comes while 10,000 messages wait is dropped, and one dead letter says how many were. A message without ' +
        'priority, of more than 64 KiB, or shorter than its octet count says, is a dead letter. Of 1,000 connections at a time further ones are refused, which a dead letter says, once a minute.',
    },
    example: `connector Logs = syslog (listen: "0.0.0.0:5514", protocol: "tcp")
connector Alerts = file (path: "alerts.jsonl")

event Syslog:
    host: str?
    app: str?
    level: str
    message: str

stream Refused = Syslog.from(Logs)
    .where(app == "sshd" and "Failed password" in message)
    .emit(host, message)
    .to(Alerts)`,
    parameters: [
      {
        name: 'listen',
        kind: 'str',
        default: '"127.0.0.1:5514"',
        summary: 'address and port to listen on; for programs of the server key only',
      },
      {
        name: 'protocol',
        kind: 'str',
        words: ['udp', 'tcp'],
        default: '"udp"',
        summary: 'how messages come; over tcp by lines or with octet counts',
      },
      { name: 'topic', kind: 'str', summary: 'event type of messages where nothing else says one (Syslog)' },
    ],
  },
  {
    name: 'smtp',
    roles: ['sink'],
    built: ['sink'],
    oneOf: [['host']],
    needs: { sink: ['from'] },
    topics: ['to', 'topic'],
    broker: false,
    summary: 'Mail to people, one for each event',
    guarantees: {
      sink:
        'At least once: delivered is what the server has accepted for each recipient. What is sent again has the same `Message-ID`, and goes to those alone ' +
        'that it was not accepted for; to all where the pipeline was started again meanwhile, or 1,000 other mails were accepted in part. ' +
        '`topic:` at `.to` is one recipient: an event whose field is anything else is a dead letter (`bad_topic`).',
    },
    example: `connector Mail = smtp (host: "mail.example.com", from: "cep@example.com", to: "desk@example.com", subject: "Large: {amount}", profile: "mail")

stream Large = Payment
    .where(amount > 1000)
    .emit(amount)
    .to(Mail)`,
    parameters: [
      { name: 'host', kind: 'str', summary: 'mail server' },
      { name: 'port', kind: 'int', min: 1, max: 65_535, summary: 'of the server (587; 465 with tls "implicit", 25 with "none")' },
      { name: 'from', kind: 'str', summary: 'sender' },
      { name: 'to', kind: 'list', summary: 'recipients' },
      { name: 'topic', kind: 'str', summary: 'one recipient, where `to` names none' },
      { name: 'subject', kind: 'str', default: '"{event_type}"', summary: 'of each mail; `{name}` stands for a field' },
      {
        name: 'tls',
        kind: 'str',
        words: ['starttls', 'implicit', 'none'],
        default: '"starttls"',
        summary: 'required, from the beginning, or none',
      },
      { name: 'username', kind: 'str', summary: 'user' },
      { name: 'password', kind: 'str', secret: true, summary: 'password' },
    ],
  },
];
