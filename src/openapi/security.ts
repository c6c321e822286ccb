import type { Surroundings } from './controller-description.js';

/** The ways to say who is calling that the host accepts; each is enough by itself. */
export function securitySchemes({ accounts, userTokens }: Surroundings): Readonly<Record<string, object>> {
  return {
    ApiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Api-Key',
      description:
        'The API key, `msgk_<id>_<secret>_<checksum>`. If this header is there at all, it alone decides who is calling.',
    },
    ...(accounts.legacyBearer === false ? {} : { LegacyBearer: legacyBearer(accounts.legacyBearer.sunset) }),
    ...(userTokens
      ? {
          UserToken: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'JWT',
            description: 'A user token that the application itself has issued. It is never read as an API key.',
          },
        }
      : {}),
  };
}

/** OpenAPI has no word for a deprecated scheme before 3.2, so the extension says it to programs. */
function legacyBearer(sunset: number | undefined): object {
  const end = sunset === undefined ? '' : ` It ends on ${new Date(sunset).toUTCString()}.`;
  return {
    type: 'http',
    scheme: 'bearer',
    description: `**Deprecated**: send the API key in \`X-Api-Key\`.${end} An API key in \`Authorization: Bearer\` is still accepted; its answers carry a \`Deprecation\` header.`,
    'x-deprecated': true,
  };
}
