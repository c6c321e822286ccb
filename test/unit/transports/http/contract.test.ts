import { beforeAll } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { describeSmsTransport } from '../../../../src/testing/index.js';
import { DOUBLES } from '../../../support/transports/gateway/gateway-fixture.js';
import { openGateway } from '../../../support/transports/gateway/gateway-harness.js';

beforeAll(() => Logger.overrideLogger(false));

for (const double of DOUBLES) describeSmsTransport(`the HTTP transport and ${double.name}`, () => openGateway(double));
