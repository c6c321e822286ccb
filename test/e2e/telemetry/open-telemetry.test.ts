import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { context, trace } from '@opentelemetry/api';
import { type ReadableSpan, type Sampler, SamplingDecision } from '@opentelemetry/sdk-trace-base';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import { HttpSmsTransport } from '../../../src/transports/http/index.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { clientOf, mount, unmountAfterEach } from '../../support/mounting/mounted.js';
import { InMemoryOtel, traceparentOf } from '../../support/telemetry/otel.js';
import { CALLBACK_SECRET } from '../../support/transports/gateway/gateway-fixture.js';
import { GatewayStation } from '../../support/transports/gateway/gateway-station.js';
import { genericDouble } from '../../support/transports/gateway/generic-double.js';
import { Receiver } from '../../support/webhooks/receiver.js';
import { WEBHOOK_PEPPER } from '../../support/webhooks/webhook-app.js';

const NUMBER = '22670000000';

unmountAfterEach();
const opened = closeAfterEach();

/** Links as `traceparent`. */
function linksOf({ links }: ReadableSpan): readonly string[] {
  return links.map((link) => `00-${link.context.traceId}-${link.context.spanId}-0${link.context.traceFlags}`);
}

describeOnBothAdapters('OpenTelemetry', (adapter) => {
  let otel: InMemoryOtel;
  beforeEach(() => {
    otel = new InMemoryOtel();
  });
  afterEach(() => otel.close());

  async function start(telemetry = otel.source()) {
    const station = opened(await GatewayStation.open(genericDouble));
    const receiver = opened(await Receiver.open());
    const transport = HttpSmsTransport.forRoot({
      vendor: genericDouble.vendor(station.server.url),
      callbackUrl: 'https://sms.example.org/api/v1/sms/callbacks/acme',
      callbackSecret: CALLBACK_SECRET,
      requestMs: 5000,
    });
    const running = await mount(adapter, [
      MessagingModule.forRoot({
        ...OPTIONS,
        telemetry,
        sms: { ...OPTIONS.sms, transport },
        webhooks: { pepper: WEBHOOK_PEPPER, allow: 'loopback' },
      }),
    ]);
    const client = await clientOf(running);
    expect((await client.post('webhooks', { url: receiver.url })).status).toBe(200);
    const sms = running.app.get(SmsService, { strict: false });
    const receipt = async () => {
      const [taken] = station.taken;
      const call = genericDouble.receipt({ id: taken?.ids[0] ?? '', to: NUMBER, status: 'delivered' }, '', Date.now());
      const path = `${running.url}/api/v1/sms/callbacks/acme/${CALLBACK_SECRET}`;
      return (await fetch(path, { method: 'POST', headers: call.headers, body: call.body })).status;
    };
    return { client, station, receiver, sms, receipt };
  }

  test('links hand-over, receipt and webhook to the send, which is a child of the host’s span', async () => {
    const { client, station, receiver, sms, receipt } = await start();
    const host = otel.tracerProvider.getTracer('host').startSpan('order');
    await context.with(trace.setSpan(context.active(), host), () =>
      sms.send(client.accountId, { signature: 'INFOS', content: 'Bonjour', number: [NUMBER] }),
    );
    host.end();
    await until(() => station.taken.length === 1);
    await until(() => otel.spans('messaging.handover').length === 1);
    expect(await until(receipt, (status) => status === 204)).toBe(204);
    await until(() => otel.spans('messaging.receipt').length === 1);
    await until(() => receiver.calls.some(({ body }) => body.includes('message.delivered')));
    await until(() => otel.spans('messaging.webhook').length === receiver.calls.length);

    const [accept] = otel.spans('messaging.accept');
    const [handover] = otel.spans('messaging.handover');
    const [arrived] = otel.spans('messaging.receipt');
    if (!accept || !handover || !arrived) throw new Error('A span is missing.');
    expect(accept.parentSpanContext?.spanId).toBe(host.spanContext().spanId);
    expect(accept.attributes).toEqual({ 'messaging.channel': 'sms', 'messaging.recipients': 1 });
    for (const later of [handover, arrived, ...otel.spans('messaging.webhook')]) {
      expect(linksOf(later)).toEqual([traceparentOf(accept)]);
      expect(later.parentSpanContext).toBeUndefined();
      expect(later.spanContext().traceId).not.toBe(accept.spanContext().traceId);
    }
    const [asked] = station.server.requests;
    expect(asked?.headers.traceparent).toBe(traceparentOf(handover));
    const calls = otel.spans('messaging.webhook').map(traceparentOf);
    const traceparents = receiver.calls.map(({ headers }) => headers.traceparent).filter((each) => each !== undefined);
    expect(traceparents.length).toBeGreaterThan(0);
    for (const each of traceparents) expect(calls).toContain(each);
  });

  test('keeps nothing for a send that is not recorded', async () => {
    const none: Sampler = { shouldSample: () => ({ decision: SamplingDecision.NOT_RECORD }), toString: () => 'none' };
    await otel.close();
    otel = new InMemoryOtel(none);
    const { client, station, receiver } = await start();
    await client.sent({ signature: 'INFOS', content: 'Bonjour', number: [NUMBER] });
    await until(() => receiver.calls.length > 0);
    expect(otel.spans()).toEqual([]);
    expect(station.server.requests[0]?.headers.traceparent).toBeUndefined();
    expect(receiver.calls.map(({ headers }) => headers.traceparent)).toEqual(receiver.calls.map(() => undefined));
  });

  test('gives the host’s meters the same values as Prometheus', async () => {
    const { client, station } = await start(otel.source({ accounts: ['a-1'], traces: false }));
    await client.sent({ signature: 'INFOS', content: 'Bonjour', number: [NUMBER] });
    await until(() => station.taken.length === 1);
    const charged = await otel.values('messaging_charged_units_total');
    expect([...charged]).toEqual([['{"channel":"sms","account":""}', 1]]);
    await until(async () => (await otel.values('messaging_storage_up')).get('{}') === 1);
    await until(async () => (await otel.values('messaging_route_usable')).get('{"route":"acme"}') === 1);
    expect(otel.spans()).toEqual([]);
  });
});

test('a value that is not a provider stops the start with a sentence', () => {
  for (const [options, sentence] of [
    [{ meterProvider: {} }, 'OpenTelemetry: meterProvider must be a provider of OpenTelemetry, with a method getMeter'],
    [
      { tracerProvider: 5 },
      'OpenTelemetry: tracerProvider must be a provider of OpenTelemetry, with a method getTracer',
    ],
    [{ tracer: true }, 'OpenTelemetry: tracer is not known'],
  ] as const) {
    expect(() => new InMemoryOtel().source(options as never)).toThrow(sentence);
  }
});
