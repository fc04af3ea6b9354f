{{- define "cep.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "cep.labels" -}}
app.kubernetes.io/name: cep
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "cep.selector" -}}
app.kubernetes.io/name: cep
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "cep.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "cep.secret" -}}
{{- if .Values.apiKey.existingSecret -}}
{{ .Values.apiKey.existingSecret }}
{{- else -}}
{{ include "cep.name" . }}-key
{{- end -}}
{{- end -}}

{{/* URLs of all coordinators, in the order of their numbers. */}}
{{- define "cep.coordinators" -}}
{{- $name := include "cep.name" . -}}
{{- $urls := list -}}
{{- range $n := until (int .Values.coordinators.replicas) -}}
{{- $urls = append $urls (printf "http://%s-coordinator-%d.%s-coordinators:9100" $name $n $name) -}}
{{- end -}}
{{- join "," $urls -}}
{{- end -}}

{{- define "cep.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "cep.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}
