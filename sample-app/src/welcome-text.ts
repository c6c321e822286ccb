import type { Config } from './config.js';

/** What a start prints: all that a newcomer needs to send the first messages. */
export function welcomeText(url: string, apiKey: string, { homeCountry, msgappTransport }: Config): string {
  const post = (path: string, body = '') =>
    `curl -X POST ${url}/api/v1/${path} -H 'X-Api-Key: ${apiKey}'${body && ` -H 'Content-Type: application/json' -d '${body}'`}`;
  const scan =
    msgappTransport === 'sandbox' ? 'scan its code on the sandbox page' : 'scan the picture at its qr_url/image';
  return `
nestjs-messaging is up.

  Base URL            ${url}/api/v1
  Docs                ${url}/docs
  Sandbox phones      ${url}/sandbox
  API key             ${apiKey}
  Home market         ${homeCountry}
  Default signatures  INFOS, ALERTE, SERVICE

Send the first SMS, then look at the sandbox phones:

  ${post('send/sms', '{"signature":"INFOS","content":"Bonjour !","number":["22670000000"]}')}

Link a number of the messaging app, ${scan}, and send from it:

  ${post('msgapp/web/connect')}
  ${post('msgapp/send/text', '{"to":"22670000000","body":"Bonjour !"}')}
`;
}
