import type { Config } from '../config/config.js';

/** Links to the dashboard. Each works once, within ten minutes. */
export interface DashboardLinks {
  readonly account: string;
  readonly operator: string;
}

/**
 * Returns the text that a start prints, with all that a newcomer needs to send the first messages.
 * @param links undefined: the text has no links
 */
export function welcomeText(
  url: string,
  apiKey: string,
  { homeCountry, msgappTransport, sms }: Config,
  links: DashboardLinks | undefined,
): string {
  const post = (path: string, body = '') =>
    `curl -X POST ${url}/api/v1/${path} -H 'X-Api-Key: ${apiKey}'${body && ` -H 'Content-Type: application/json' -d '${body}'`}`;
  const onSandbox = sms.transport === 'sandbox';
  const scan =
    msgappTransport === 'baileys' ? 'scan the picture at its qr_url/image' : 'scan its code on the sandbox page';
  // The sandbox page shows the code to scan. It is mounted only while SMS are on the sandbox.
  const canScan = msgappTransport !== 'whatsapp-cloud' && (onSandbox || msgappTransport === 'baileys');
  const dashboard = links
    ? `
  Dashboard           ${links.account}
  as the operator     ${links.operator}
                      (each once, within 10 minutes; "npm run operator -- link" makes another)`
    : '';
  const link = `
Link a number of the messaging app, ${scan}, and send from it:

  ${post('msgapp/web/connect')}
  ${post('msgapp/send/text', '{"to":"22670000000","body":"Bonjour !"}')}
`;
  return `
nestjs-messaging is up.

  Base URL            ${url}/api/v1
  Docs                ${url}/docs
  ${onSandbox ? `Sandbox phones      ${url}/sandbox` : `SMS go out by      ${sms.transport}`}
  API key             ${apiKey}
  Home market         ${homeCountry}
  Default signatures  INFOS, ALERTE, SERVICE${dashboard}

Send the first SMS${onSandbox ? ', then look at the sandbox phones' : ''}:

  ${post('send/sms', '{"signature":"INFOS","content":"Bonjour !","number":["22670000000"]}')}
${canScan ? link : ''}`;
}
