import type { CanActivate, Type } from '@nestjs/common';
import type { Telemetry } from '../common/telemetry/telemetry.js';
import type { PortSource } from './port-provider.js';

/** Who may read `GET <path>/metrics`. */
export interface TelemetryRoute {
  /**
   * What scrapers send in `Authorization: Bearer`: at least 32 random characters, in the form of neither an API key nor a JWT.
   */
  readonly secret?: string | undefined;
  /** A guard of the host that decides instead. What it injects must be global. */
  readonly guard?: Type<CanActivate> | undefined;
}

/** The value of the option `telemetry`. */
export type TelemetrySource = PortSource<Telemetry> & {
  /** Default: none, `GET <path>/metrics` is a 404. */
  readonly route?: TelemetryRoute | undefined;
};
