import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { namedSink } from '../../../../src/transports/routed/carrier-route.js';
import { DOUBLES } from '../../../support/transports/gateway/gateway-fixture.js';
import { openGateway } from '../../../support/transports/gateway/gateway-harness.js';
import { RecordingSink } from '../../../support/transports/recording-sink.js';

type Harness = Awaited<ReturnType<typeof openGateway>>;

beforeAll(() => Logger.overrideLogger(false));

describe.each(DOUBLES.map((double) => [double.name, double] as const))('a text that %s delivers twice', (_, double) => {
  let harness: Harness | undefined;

  afterEach(() => harness?.close());

  test('has one route and one id by which it is recognised, also behind a router', async () => {
    harness = await openGateway(double);
    const sink = new RecordingSink();
    await harness.transport.start(namedSink(sink, () => 'main'));
    for (let time = 0; time < 2; time++) await harness.say?.('22670000001', '36200', 'Bonjour');
    const [first, second] = sink.texts;
    expect(first).toMatchObject({ route: 'main', from: '22670000001', to: '36200', text: 'Bonjour' });
    expect(first?.id).toMatch(/./);
    expect(second?.id).toBe(first?.id);
  });
});
