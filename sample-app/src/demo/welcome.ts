import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { type Config, isOnSandbox } from '../config/config.js';
import { baseUrl } from './base-url.js';
import { linkTo } from './dashboard-link.js';
import type { Demo } from './demo-account.js';
import { welcomeText } from './welcome-text.js';

/** Prints how to reach the application. It must listen already, because only then PORT=0 has become a port. */
export async function printWelcome(app: INestApplication, { accountId, apiKey }: Demo, config: Config): Promise<void> {
  const { port }: AddressInfo = app.getHttpServer().address();
  const url = baseUrl(config.host, port);
  // Off the sandbox, the output of a start goes to logs, and logs must not contain a link. The operator's command makes one.
  const links = isOnSandbox(config) && {
    account: await linkTo(app, url, { account: accountId, role: 'admin' }),
    operator: await linkTo(app, url, { role: 'operator' }),
  };
  console.log(welcomeText(url, apiKey, config, links || undefined));
}
