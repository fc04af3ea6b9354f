#!/usr/bin/env bash
# As in the images of the project itself.
exec java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "/opt/kafka/libs/*" org.apache.kafka.tools.TopicCommand "$@"
