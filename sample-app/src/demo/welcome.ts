import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import type { Config } from '../config/config.js';
import { baseUrl } from './base-url.js';
import { welcomeText } from './welcome-text.js';

/** Prints how to reach an application that listens: PORT=0 has become a port by then. */
export function printWelcome(app: INestApplication, apiKey: string, config: Config): void {
  const { port }: AddressInfo = app.getHttpServer().address();
  console.log(welcomeText(baseUrl(config.host, port), apiKey, config));
}
