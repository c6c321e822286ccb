import type { CanActivate, Type } from '@nestjs/common';
import type { Telemetry } from '../common/telemetry/telemetry.js';
import type { PortSource } from './port-provider.js';

/** Who may read `GET <path>/metrics`. */
export interface TelemetryRoute {
  /**
   * The secret that scrapers send in `Authorization: Bearer`: at least 32 random characters, in the form of neither an
   * API key nor a JWT.
   */
  readonly secret?: string | undefined;
  /** A guard of the host that decides instead of the secret. Its dependencies must be provided by global modules. */
  readonly guard?: Type<CanActivate> | undefined;
}

/** The value of the option `telemetry`. */
export type TelemetrySource = PortSource<Telemetry> & {
  /** Who may read `GET <path>/metrics`. Default: nobody, and the route is a 404. */
  readonly route?: TelemetryRoute | undefined;
};
