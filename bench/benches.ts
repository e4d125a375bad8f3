import { bridgeSpeed } from "./bridge-speed.js";
import { bridges } from "./bridges.js";
import { budgets } from "./budgets.js";
import { burst } from "./burst.js";
import { echo } from "./echo.js";
import { far } from "./far.js";
import type { Bench } from "./figure.js";
import { first } from "./first.js";
import { grpc } from "./grpc.js";
import { codec } from "./grpc-codec.js";
import { grpcFraming } from "./grpc-framing.js";
import { hostile } from "./hostile.js";
import { http } from "./http.js";
import { httpStdio } from "./http-stdio.js";
import { leaks } from "./leaks.js";
import { list } from "./list.js";
import { numbers } from "./numbers.js";
import { observe } from "./observe.js";
import { proto } from "./proto.js";
import { read } from "./read.js";
import { remote } from "./remote.js";
import { start } from "./start.js";
import { transfer } from "./transfer.js";
import { waist } from "./waist.js";

export const benches: readonly Bench[] = [
  first,
  start,
  read,
  echo,
  list,
  waist,
  burst,
  http,
  httpStdio,
  transfer,
  far,
  codec,
  numbers,
  grpc,
  grpcFraming,
  leaks,
  observe,
  hostile,
  budgets,
  bridges,
  bridgeSpeed,
  remote,
  proto,
];
