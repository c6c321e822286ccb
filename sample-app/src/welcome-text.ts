import type { Config } from './config.js';

/** What a start prints: all that a newcomer needs to send the first SMS. */
export function welcomeText(url: string, apiKey: string, { homeCountry, sms }: Config): string {
  const onSandbox = sms.transport === 'sandbox';
  return `
nestjs-messaging is up.

  Base URL            ${url}/api/v1
  Docs                ${url}/docs
  ${onSandbox ? `Sandbox phones      ${url}/sandbox` : `SMS go out by      ${sms.transport}`}
  API key             ${apiKey}
  Home market         ${homeCountry}
  Default signatures  INFOS, ALERTE, SERVICE

Send the first SMS${onSandbox ? ', then look at the sandbox phones' : ''}:

  curl -X POST ${url}/api/v1/send/sms -H 'X-Api-Key: ${apiKey}' -H 'Content-Type: application/json' -d '{"signature":"INFOS","content":"Bonjour !","number":["22670000000"]}'
`;
}
