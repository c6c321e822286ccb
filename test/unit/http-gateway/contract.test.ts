import { beforeAll } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { describeSmsTransport } from '../../../src/testing/index.js';
import { openGateway } from '../../support/gateway/gateway-harness.js';
import { DOUBLES } from '../../support/gateway/gateway-world.js';

beforeAll(() => Logger.overrideLogger(false));

for (const double of DOUBLES) describeSmsTransport(`the HTTP transport and ${double.name}`, () => openGateway(double));
